// The form of a language's template.

/** A file of a new delegate: its path in the delegate's directory, and its text. */
export type TemplateFile = readonly [path: string, text: string];

/** The delegate for which a template makes files. */
export interface TemplateInit {
  readonly name: string;
  /** The version of `cni:delegate`. */
  readonly abi: string;
  /** Capabilities besides `log`. */
  readonly capabilities: readonly string[];
}

/** The files that only this language needs. */
export interface Template {
  readonly files: (init: TemplateInit) => readonly TemplateFile[];
  /** Members of package.json for a delegate in a repository of its own. */
  readonly manifest: {
    readonly scripts: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  /** Further lines of `.gitignore`. */
  readonly ignored: readonly string[];
}

/** Each capability's reason and example of a grant for a new delegate; the author replaces the reason. */
export const initialCapabilities: Readonly<Record<string, { readonly reason: string; readonly grant: object }>> = {
  leases: { reason: "Reserves the attachment's addresses.", grant: { directories: ["/var/lib/cni/networks"] } },
  resolver: { reason: "Reads the node's name resolution settings.", grant: { files: ["/etc/resolv.conf"] } },
  links: { reason: "Makes the pod's interface, its addresses and routes.", grant: { bridges: ["br0"] } },
  sysctl: { reason: "Sets the sysctls that the configuration lists.", grant: { keys: ["net/ipv4/conf/IFNAME/rp_filter"] } },
  firewall: { reason: "Masquerades the pod's packets.", grant: { masquerade: true } },
  announce: { reason: "Announces the pod's addresses to neighbours.", grant: {} },
  delegation: { reason: "Calls the plugin that ipam.type names.", grant: { plugins: ["ipam-host-local"] } },
  ovs: { reason: "Plugs the pod's interface into Open vSwitch.", grant: { bridges: ["br-int"] } },
  routing: { reason: "Routes the attachment's packets by their source.", grant: {} },
  shaping: { reason: "Bounds the pod's traffic.", grant: {} },
  filter: { reason: "Accepts the pod's forwarded packets.", grant: {} },
  dhcp: { reason: "Gets the attachment's address from a DHCP server.", grant: {} },
  flows: { reason: "Ends the flows of the attachment.", grant: {} },
  state: { reason: "Keeps the data that DEL needs.", grant: { directories: ["/run/cni/state"] } },
};

/** A document's text. Lists of texts are on one line, like the project's formatter writes them. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(/\[\s+("[^[\]{}]*")\s+\]/g, (_, items: string) => `[${items.replace(/\s*\n\s*/g, " ")}]`)}\n`;
}
