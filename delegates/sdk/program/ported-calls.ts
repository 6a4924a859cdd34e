// The calls of a CNI plugin in Go that a delegate makes by a capability.

/** A function that a plugin calls. */
export interface PortedCall {
  /** As Go writes it: `netlink.RuleAdd`. */
  readonly call: string;
  /** `FILE:LINE` of the first calls. */
  readonly places: readonly string[];
  /** The capability; `none`: no capability is needed; `-`: there is none. */
  readonly capability: string;
  readonly hint: string;
}

const maxPlaces = 3;

/** The first row that matches a call decides. */
const rows: readonly (readonly [pattern: RegExp, capability: string, hint: string])[] = [
  [/^netlink\.(?:Rule(?:Add|Del|List)|NewRule)/, "routing", "policy rules, of the pod or of granted tables"],
  [
    /^netlink\.Route(?:Add|Del|Replace|Append)|^ip\.Add(?:Host|Default)?Route/,
    "links",
    "add-route, delete-route; in further tables: routing",
  ],
  [/^netlink\.Route(?:List|Get)/, "links", "routes, default-link"],
  [/^netlink\.Qdisc|^netlink\.Filter|^netlink\.Class/, "shaping", "a token bucket or fair queueing, both directions"],
  [/^netlink\.Conntrack/, "flows", "forgets the attachment's flows; firewall forgets those of a removed mapping by itself"],
  [/^netlink\.(?:LinkSetVf|LinkSetVF)/, "links", "set-vf; give-back restores the earlier settings"],
  [/^netlink\.LinkSetNs(?:Fd|Pid)?$/, "links", "take-device, give-back; new links are made in the pod at once"],
  [/^netlink\.LinkSetName$|^ip\.RenameLink$/, "links", "new links have their name at once"],
  [
    /^netlink\.LinkSetMaster|^netlink\.LinkSetNoMaster/,
    "links",
    "change-link with master; the node's links: links.bridges, links.uplinks",
  ],
  [
    /^netlink\.LinkAdd$|^ip\.SetupVeth/,
    "links",
    "add-veth, add-macvlan, add-ipvlan, add-vlan, add-dummy, add-tap, add-vrf, add-bond; a vxlan: none",
  ],
  [/^netlink\.LinkDel$|^ip\.DelLinkByName/, "links", "delete-link"],
  [/^netlink\.LinkSet/, "links", "change-link"],
  [/^netlink\.LinkList/, "links", "read, by name; all VRFs of the pod: vrfs"],
  [/^netlink\.Link(?:ByName|ByIndex|ByAlias)/, "links", "read, by name"],
  [/^netlink\.(?:Addr|ParseAddr)/, "links", "add-address, ensure-address, delete-address, read"],
  [/^netlink\.Neigh/, "links", "add-neighbour, delete-neighbour, neighbours"],
  [/^netlink\.(?:Bridge|LinkModify)/, "links", "ensure-bridge, add-port-vlan, change-port"],
  [/^netlink\./, "links", "an operation of links, if one of its operations has this effect"],
  [/^ip\.(?:EnableIP4Forward|EnableIP6Forward|EnableForward)/, "links", "enable-forwarding (grant: links.forwarding)"],
  [/^ip\.SetupIPMasq|^ip\.TeardownIPMasq/, "firewall", "replace with masquerades"],
  [/^ip\.SettleAddresses/, "links", "settle"],
  [
    /^(?:iptables|nftables|knftables|utils)\.[A-Z]\w*(?:New|Chain|Rule|Append|Insert|IPTables|NFTables)|^iptables\.|^nftables\.|^knftables\./,
    "firewall",
    "masquerading and port mappings; accepted forwarding: filter",
  ],
  [/^sysctl\./, "sysctl", "read, write: keys under net of the pod"],
  [/^arping\.|^arp\.|^ndp\./, "announce", "send, and probe for duplicates"],
  [/^(?:dhcp4?|nclient4|nclient6|dhcp4client)\./, "dhcp", "a typed client; the daemon renews the lease"],
  [/^invoke\.Delegate|^ipam\.Exec/, "delegation", "add, del, check, gc, status of another plugin"],
  [/^ipam\.ConfigureIface/, "links", "configureInterface of plexus/pod-interface"],
  [/^(?:allocator|disk)\./, "leases", "reserve, reserveNext, release, retain"],
  [/^(?:ns|netns)\./, "none", "operations name the pod's or the node's side"],
  [
    /^(?:os|ioutil)\.(?:WriteFile|Create|Mkdir\w*|Remove\w*|Rename|OpenFile)/,
    "state",
    "one text for the attachment; nothing else is written",
  ],
  [
    /^(?:os|ioutil)\.(?:ReadFile|Open|ReadDir|Stat|Lstat|Readlink|Glob)/,
    "state",
    "load; of resolv.conf: resolver; of /proc/sys/net: sysctl; of links: links.read",
  ],
  [/^exec\./, "-", "no program is executed: look for the capability of its effect, or stay native"],
  [
    /^(?:net)\.(?:Dial|Listen|Interface)\w*|^(?:unix|syscall)\./,
    "-",
    "no socket and no system call: look for the capability of its effect, or stay native",
  ],
  [/^(?:os)\.(?:Getenv|Environ)$/, "none", "request.attachment.args has CNI_ARGS"],
  [/^(?:log|logrus)\.|^fmt\.Fprint/, "log", "write"],
  [/^(?:time)\.(?:Sleep|Now|After)/, "-", "no clock: settle waits for links"],
];

/** The calls in the text of a Go file, in the order of their first lines. Comments and strings do not count. */
export function portedCalls(text: string, file: string): readonly PortedCall[] {
  const found = new Map<string, { places: string[]; capability: string; hint: string }>();
  for (const [index, line] of withoutText(text).split("\n").entries()) {
    for (const [, call = ""] of line.matchAll(/(?<![\w.)\]])([a-z]\w*\.[A-Z]\w*)\(/g)) {
      // Reads of `netlinksafe` repeat those of `netlink` that concurrent changes interrupt.
      const plain = call.replace(/^netlinksafe\./, "netlink.");
      const row = rows.find(([pattern]) => pattern.test(plain));
      if (row === undefined) continue;
      const known = found.get(call) ?? { places: [], capability: row[1], hint: row[2] };
      if (known.places.length < maxPlaces) known.places.push(`${file}:${index + 1}`);
      found.set(call, known);
    }
  }
  return [...found].map(([call, rest]) => ({ call, ...rest }));
}

/** The text with comments and strings as blanks; each line stays where it is. */
function withoutText(text: string): string {
  return text.replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|`[^`]*`/g, (part) => part.replaceAll(/[^\n]/g, " "));
}
