// The annotations of a NetworkAttachmentDefinition that ask for an external port.

/** Plexus' annotation: `{"provider": NAME, ...parameters}`. */
export const externalPortAnnotation = "plexus.dev/external-port";
/** Kuryr's annotation: `{"subnetId"?: ID, "driverType"?: ALIAS}`. */
export const kuryrConfigAnnotation = "openstack.org/kuryr-config";

/** Whether a definition with these annotations asks for a port. */
export function asksForPort(annotations: ReadonlyMap<string, string> | undefined): boolean {
  return annotations !== undefined && (annotations.has(externalPortAnnotation) || annotations.has(kuryrConfigAnnotation));
}
