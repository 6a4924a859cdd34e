// WIT's kebab-case names in the case of JavaScript, as jco writes them.

/** `socket-path` → `socketPath`: a field, parameter or function. */
export function camel(name: string): string {
  const [first = "", ...more] = name.split("-");
  return first.toLowerCase() + more.map(capital).join("");
}

/** `ip-config` → `IpConfig`: a type or a case. */
export function pascal(name: string): string {
  return name.split("-").map(capital).join("");
}

function capital(part: string): string {
  return part.slice(0, 1).toUpperCase() + part.slice(1).toLowerCase();
}
