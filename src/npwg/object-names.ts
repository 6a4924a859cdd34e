// Names of Kubernetes objects as the annotations give them (NPWG 3.3; Kubernetes' validation.IsDNS1123Label and …Subdomain).

/** The recommended bound of a label (3.3), and Kubernetes' bound of any object's name, in characters. */
const recommendedLabel = 63;
const longestName = 253;

const label = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Why `name` is no DNS-1123 label, as the end of a sentence; undefined if it is one. */
export function labelProblem(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > longestName) return `has ${name.length} characters; Kubernetes allows ${longestName}`;
  if (!label.test(name)) return "is no DNS-1123 label (lower case letters, digits and '-', a letter or digit at both ends)";
  return undefined;
}

/** Whether a valid label is longer than the specification recommends (N1-08). */
export function isLongLabel(name: string): boolean {
  return name.length > recommendedLabel;
}

/** Why `name` is no DNS-1123 subdomain (labels joined by '.'); undefined if it is one. */
export function subdomainProblem(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > longestName) return `has ${name.length} characters; Kubernetes allows ${longestName}`;
  if (!subdomain.test(name)) return "is no DNS-1123 subdomain (labels of lower case letters, digits and '-', joined by '.')";
  return undefined;
}
