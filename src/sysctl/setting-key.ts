// Keys of settings below `net`, as the capability `sysctl` and the simulated node take them.

/** Maximum characters of a key: an interface's name has at most 15, a setting's fewer than 64. */
const maxKeyLength = 256;

/** Whether the key is a path below `net`. No component may be empty, `.` or `..`, so that the path cannot leave `net`. */
export function isSettingKey(key: string): boolean {
  return key.length <= maxKeyLength && /^net(?:\/(?!\.{1,2}(?:\/|$))[^/\0\n]+)+$/u.test(key);
}
