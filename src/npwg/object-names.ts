// Names of Kubernetes objects in annotations (NPWG 3.3; Kubernetes' validation.IsDNS1123Label and …Subdomain).

/** The recommended maximum of a label (3.3), and Kubernetes' maximum of any object's name, in characters. */
const recommendedLength = 63;
const maxLength = 253;

const label = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Why `name` is not a DNS-1123 label, as the end of a sentence; undefined if it is a label. */
export function labelProblem(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > maxLength) return `has ${name.length} characters; Kubernetes allows ${maxLength}`;
  if (!label.test(name)) return "is not a DNS-1123 label (lower case letters, digits and '-', a letter or digit at both ends)";
  return undefined;
}

/** Whether a valid label is longer than the specification recommends (N1-08). */
export function isLongLabel(name: string): boolean {
  return name.length > recommendedLength;
}

/** Why `name` is not a DNS-1123 subdomain (labels joined by '.'); undefined if it is a subdomain. */
export function subdomainProblem(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > maxLength) return `has ${name.length} characters; Kubernetes allows ${maxLength}`;
  if (!subdomain.test(name)) return "is not a DNS-1123 subdomain (labels of lower case letters, digits and '-', joined by '.')";
  return undefined;
}
