// Headers for an OpenTelemetry collector, a credential for one, as OpenTelemetry's environment variable has them: not among the arguments, which
// every user of the node can read.

/** `OTEL_EXPORTER_OTLP_HEADERS`: `key=value,key=value`, values percent-encoded. What is no header is left out. */
export function collectorHeaders(text: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const pair of text.split(",")) {
    const [, name = "", encoded = ""] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    const value = decoded(encoded);
    if (name !== "" && /^[\t\x20-\x7e]*$/.test(value)) headers[name.toLowerCase()] = value;
  }
  return headers;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
