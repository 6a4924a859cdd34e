// Keys as Go's JSON decoder compares them: `{"Name": …}` sets the field `name`. A check of a configuration for a native plugin, which
// is mostly written in Go, compares keys in this form.

/** The key in lower case. Go also maps two non-ASCII letters to `s` and `k`. */
export function foldedKey(key: string): string {
  return key.replaceAll("\u017f", "s").replaceAll("\u212a", "k").toLowerCase();
}
