// Numbers of bytes for a person.

/** Bytes with three digits and a binary unit. */
export function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const unit = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** unit;
  return `${unit === 0 ? Math.round(value) : value.toPrecision(3)} ${units[unit]}`;
}
