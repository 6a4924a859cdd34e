// The header WWW-Authenticate of a registry's answer 401 (RFC 9110 section 11.6.1; distribution's token authentication).

/** A registry's demand for credentials. */
export type Challenge =
  | { readonly scheme: "basic" }
  | {
      readonly scheme: "bearer";
      /** URL of the token server. */
      readonly realm: string;
      readonly service: string | undefined;
      readonly scope: string | undefined;
    };

const maxLength = 4096;

/** The first challenge that Plexus can answer, Bearer before Basic; undefined if there is none. */
export function readChallenge(header: string): Challenge | undefined {
  if (header.length > maxLength) return undefined;
  const parameters = /\bbearer\s+(.*)$/i.exec(header)?.[1];
  if (parameters !== undefined) {
    const values = new Map<string, string>();
    for (const [, name, quoted, token] of parameters.matchAll(/([a-zA-Z_-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)) {
      const value = quoted === undefined ? token : quoted.replaceAll(/\\(.)/g, "$1");
      if (name !== undefined && value !== undefined && !values.has(name.toLowerCase())) values.set(name.toLowerCase(), value);
    }
    const realm = values.get("realm");
    if (realm !== undefined) return { scheme: "bearer", realm, service: values.get("service"), scope: values.get("scope") };
  }
  return /(?:^|,)\s*basic(?:\s|$)/i.test(header) ? { scheme: "basic" } : undefined;
}
