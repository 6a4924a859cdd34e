// Reads HTTP headers for the OpenTelemetry collector, such as credentials, from OpenTelemetry's environment variable. They are not command
// line arguments, because every user of the node can read those.

/** Parses `OTEL_EXPORTER_OTLP_HEADERS`: `key=value,key=value`, values percent-encoded. Invalid headers are left out. */
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
