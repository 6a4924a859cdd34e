// Configurations of the delegate sriov for a virtual function of igb: each key that the adapter has, and refusals.

type Step = Readonly<Record<string, unknown>> & { readonly ipam?: object };

/** A configuration of the function. */
export interface FunctionConfiguration {
  readonly name: string;
  readonly step: Step;
  readonly args?: string;
  readonly runtimeConfig?: object;
  /** False: without the function's PCI address. */
  readonly hasDevice?: false;
  readonly cniVersion?: string;
}

const mac = "02:00:00:00:79:02";
// igb takes a MAC from the function's own driver, as sriov-cni sets it, only while the function is trusted.
const trusted = { mac, trust: "on" };
const ipam = { type: "ipam-host-local", ranges: [[{ subnet: "10.79.0.0/24" }]], routes: [{ dst: "172.16.0.0/16" }] };
const both = { type: "ipam-host-local", ranges: [[{ subnet: "10.79.0.0/24" }], [{ subnet: "fd00:79::/64" }]] };

export const accepted: readonly FunctionConfiguration[] = [
  { name: "no key", step: {} },
  { name: "both families, dns", step: { dns: { nameservers: ["10.96.0.10"] }, ipam: both } },
  { name: "a VLAN with priority, a MAC, spoofchk", step: { vlan: 7, vlanQoS: 2, ...trusted, spoofchk: "on", ipam } },
  { name: "VLAN 0", step: { vlan: 0 } },
  { name: "the VLAN protocol in another case", step: { vlan: 9, vlanProto: "802.1Q" } },
  { name: "spoofchk and trust", step: { spoofchk: "off", trust: "on" } },
  { name: "the greatest rate", step: { max_tx_rate: 10 } },
  { name: "a MAC in capitals", step: { ...trusted, mac: mac.toUpperCase() } },
  { name: "MAC of CNI_ARGS", step: trusted, args: "IgnoreUnknown=1;MAC=02:00:00:00:79:03" },
  {
    name: "the runtime's MAC",
    step: { ...trusted, capabilities: { deviceID: true, mac: true } },
    args: "IgnoreUnknown=1;MAC=02:00:00:00:79:03",
    runtimeConfig: { mac: "02:00:00:00:79:04" },
  },
  { name: "as 0.3.1", step: { ipam }, cniVersion: "0.3.1" },
  { name: "keys in another case", step: { VLAN: 5, SpoofChk: "on" } },
];

export const refused: readonly FunctionConfiguration[] = [
  { name: "no device", step: {}, hasDevice: false },
  { name: "a missing device", step: { deviceID: "0000:ff:1f.7" }, hasDevice: false },
  { name: "a device without a physical function", step: { deviceID: "0000:00:00.0" }, hasDevice: false },
  { name: "VLAN 4095", step: { vlan: 4095 } },
  { name: "a priority without a VLAN", step: { vlanQoS: 2 } },
  { name: "a priority of VLAN 0", step: { vlan: 0, vlanQoS: 2 } },
  { name: "priority 8", step: { vlan: 7, vlanQoS: 8 } },
  { name: "a protocol without a VLAN", step: { vlanProto: "802.1q" } },
  { name: "an unknown protocol", step: { vlan: 7, vlanProto: "802.1s" } },
  { name: "802.1ad of VLAN 0", step: { vlan: 0, vlanProto: "802.1ad" } },
  { name: "an unknown link state", step: { link_state: "up" } },
  { name: "a link state, which igb lacks", step: { link_state: "enable" } },
  { name: "a broken MAC", step: { mac: "02:00:00" } },
  { name: "an IPAM plugin without ranges", step: { vlan: 7, ipam: { type: "ipam-host-local", ranges: [] } } },
];

/** sriov-cni fails here: igb refuses the MAC from the function's own driver after that of the physical function. */
export const onlyOfComponent: FunctionConfiguration = { name: "a MAC without trust", step: { mac } };
