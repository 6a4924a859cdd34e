// Reads a resolv.conf(5) as the reference plugins do (ipam/host-local).

/** Name resolution settings in the form of a CNI result (section 5, `dns`). */
export interface ResolvConf {
  readonly nameservers: readonly string[];
  readonly domain: string | undefined;
  readonly search: readonly string[];
  readonly options: readonly string[];
}

/** Reads the text of a resolv.conf. Unknown keywords are ignored. The last `domain` line counts. */
export function parseResolvConf(text: string): ResolvConf {
  const nameservers: string[] = [];
  const search: string[] = [];
  const options: string[] = [];
  let domain: string | undefined;
  for (const line of text.split("\n")) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    const first = values[0];
    if (first === undefined || keyword === undefined || keyword.startsWith("#") || keyword.startsWith(";")) continue;
    if (keyword === "nameserver") nameservers.push(first);
    else if (keyword === "domain") domain = first;
    else if (keyword === "search") search.push(...values);
    else if (keyword === "options") options.push(...values);
  }
  return { nameservers, domain, search, options };
}
