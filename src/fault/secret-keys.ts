// The rule by which a key of a configuration names a secret. A key is divided into words at `_`, `-`, `.`, digits and capitals; case does not
// matter. The last word decides, after words that only describe the value's form (`keyData`, `passwordHash`):
// - A key with a stem such as `password`, `secret`, `token` or `apikey` anywhere names a secret.
// - `key` as the last word does, unless the word before says that it is public or an index (`publicKey`, `sortKey`); `keys` alone does not.
// - `pass`, `pwd`, `auth`, `dsn` and similar short words do as the last word, or as the last word's end (`dbpass`).
// - A last word that describes or locates the secret makes the key harmless: `passwordFile`, `tokenTtl`, `authMode`, `keyId`.

/** Every secret key contains one of these texts. Cheap, because nearly all keys have none. */
export const secretHint = /pass|pwd|secret|token|key|auth|cred|cookie|dsn|psk|jwt|otp|bearer|connection/i;

const stems =
  /passw(?:or)?d|passphrase|passcode|passkey|secret|token|credential|authorization|cookie|bearer|(?:api|access|auth|private|priv|preshared|shared|signing|encryption|ssh|tls|ssl|master|hmac|vpn|wg|wireguard)keys?$/;

const shortWords = /(?:^|[a-z])(?:pwd|dsn|psk|jwt|t?otp|creds?|auth)$|^authentication$|(?<!by|com|tres|sur)pass$/;

/** Words that describe the form of the secret, not another thing. */
const formWords: ReadonlySet<string> = new Set(
  "value values data string str text hash base b hex pem material header content contents raw plain plaintext encoded encrypted current old new default confirm confirmation".split(
    " ",
  ),
);

/** Words for something that describes or locates a secret, and is none itself. */
const harmlessWords: ReadonlySet<string> = new Set(
  "file files path paths dir directory name names namespace ref reference type kind mode method algorithm algo alg format url uri endpoint server host port ttl timeout expiry expiration expires duration lifetime length size bits enabled disabled required version policy provider issuer audience count limit rate interval usage scope scopes class rotation prefix".split(
    " ",
  ),
);

/** Words before `key` that make it no secret. `p`: the partition key of InfiniBand. */
const publicKeys: ReadonlySet<string> = new Set(
  "public pub primary foreign partition p sort map index group cache object label annotation topology sysctl config lookup routing".split(
    " ",
  ),
);

/** Longer keys are judged by their end. */
const maxKey = 256;

function wordsOf(key: string): string[] {
  return key
    .slice(-maxKey)
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
}

/** Whether the key names a secret. */
export function isSecretKey(key: string): boolean {
  if (!secretHint.test(key)) return false;
  const words = wordsOf(key);
  if (words.join("").endsWith("connectionstring")) return true;
  while (words.length > 1 && formWords.has(words.at(-1) ?? "")) words.pop();
  const [before = "", last = ""] = [words.at(-2), words.at(-1)];
  if (isHarmless(last) || (last === "id" && before !== "secret")) return false;
  if (last === "key" && words.length > 1 && publicKeys.has(before)) return false;
  return last === "key" || stems.test(words.join("")) || shortWords.test(last);
}

/** Whether a key within an object of secrets, such as `credentials.type`, has a value that is none. */
export function isHarmless(key: string): boolean {
  return harmlessWords.has(key.toLowerCase());
}

/** Whether prose such as `token: invalid` is read as a key and its value. The short words occur as ordinary words: `auth: no route`. */
export function isSecretInProse(key: string): boolean {
  return isSecretKey(key) && /passw|passphrase|secret|token|credential|cookie|authorization|pwd|dsn|psk|[a-z][-_]?key/i.test(key);
}
