/**
 * The SHA-512 of a text's UTF-8, as hexadecimal digits. Chain names contain it, so it must be collision-resistant;
 * the reference plugins name their chains by it. The first call loads `node:crypto` (12 ms of CPU), which few calls need.
 */
export function sha512(text: string): string {
  return process.getBuiltinModule("node:crypto").hash("sha512", text, "hex");
}
