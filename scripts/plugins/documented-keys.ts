// The keys of plugins: those of the reference plugins' documentation 1.9.1 (https://www.cni.dev/plugins/current/), and those of bond-cni, ovs-cni,
// route-override-cni and sriov-cni 2.10.0. `ipam.routes` is the member `routes` of `ipam`, and `provide.fromArg` a member of each element of `provide`.

/** The keys of one plugin. */
export interface DocumentedKeys {
  readonly keys: readonly string[];
  /** Keys that the component refuses, with the reason. */
  readonly refused?: Readonly<Record<string, string>>;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** By the plugin's type, in the order of the table. */
export const documentedKeys: Readonly<Record<string, DocumentedKeys>> = {
  bandwidth: {
    keys: [
      "ingressRate",
      "ingressBurst",
      "egressRate",
      "egressBurst",
      "shapedSubnets",
      "unshapedSubnets",
      "runtimeConfig.bandwidth",
    ],
  },
  bridge: {
    keys: words(`
      bridge isGateway isDefaultGateway forceAddress ipMasq ipMasqBackend mtu hairpinMode ipam promiscMode vlan
      preserveDefaultVlan vlanTrunk enabledad macspoofchk disableContainerInterface portIsolation dns
      runtimeConfig.mac
    `),
  },
  dhcp: {
    keys: [
      "ipam.daemonSocketPath",
      "ipam.request",
      "ipam.request.skipDefault",
      "ipam.provide",
      "ipam.provide.fromArg",
      "ipam.priority",
    ],
  },
  dummy: { keys: ["ipam"] },
  firewall: { keys: ["backend", "iptablesAdminChainName", "firewalldZone", "ingressPolicy"] },
  "host-device": { keys: ["device", "hwaddr", "kernelpath", "pciBusID", "runtimeConfig.deviceID", "ipam", "dns"] },
  "host-local": {
    keys: words(`
      ipam.ranges ipam.subnet ipam.rangeStart ipam.rangeEnd ipam.ranges.gateway ipam.routes ipam.resolvConf
      ipam.dataDir runtimeConfig.ips runtimeConfig.ipRanges args.cni.ips
    `),
  },
  ipvlan: { keys: ["master", "mode", "mtu", "ipam", "linkInContainer", "dns"] },
  loopback: { keys: [] },
  macvlan: { keys: words("master mode mtu ipam linkInContainer mac bcqueuelen dns runtimeConfig.mac") },
  portmap: {
    keys: words("snat masqAll backend markMasqBit externalSetMarkChain conditionsV4 conditionsV6 runtimeConfig.portMappings"),
    refused: { externalSetMarkChain: "it names an iptables chain, and the component makes nftables rules" },
  },
  ptp: { keys: ["ipMasq", "ipMasqBackend", "mtu", "ipam", "dns"] },
  sbr: { keys: ["table"] },
  static: { keys: ["ipam.addresses", "ipam.routes", "ipam.dns", "args.cni.ips", "runtimeConfig.ips"] },
  tap: {
    keys: words("multiQueue mtu mac owner group selinuxContext bridge ipam dns runtimeConfig.mac"),
  },
  tuning: {
    keys: words("sysctl mac mtu promisc allmulti txQLen dataDir args.cni runtimeConfig.mac"),
  },
  vlan: { keys: ["master", "vlanId", "mtu", "ipam", "dns", "linkInContainer"] },
  vrf: { keys: ["vrfname", "table"] },
  bond: {
    keys: words("mode links linksInContainer miimon failOverMac mtu allSlavesActive tlbDynamicLb xmitHashPolicy ipam"),
  },
  ovs: {
    keys: words(`
      bridge vlan trunk mtu ofport_request interface_type deviceID socket_file configuration_path
      link_state_check_retries link_state_check_interval ipam args.cni.mac args.cni.ovnPort
    `),
    refused: {
      deviceID: "the port would be the representor of a virtual function",
      socket_file: "the grant names the socket",
      configuration_path: "a sandboxed delegate reads no files",
    },
  },
  "route-override": { keys: ["flushroutes", "flushgateway", "delroutes", "addroutes", "skipcheck", "args.cni"] },
  sriov: {
    keys: words(`
      deviceID vlan vlanQoS vlanProto mac spoofchk trust link_state min_tx_rate max_tx_rate logLevel logFile ipam
      runtimeConfig.mac runtimeConfig.deviceID
    `),
  },
};
