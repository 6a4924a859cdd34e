// Delegates in place of the reference plugins: for each plugin a row for its verbs, and one for each key of its documentation 1.9.1 (https://www.cni.dev/plugins/current/).

type Rows = Readonly<Record<string, string>>;

/** Keys of the reference plugin's documentation; the release 1.9.1 ignores the two lists of networks. */
const bandwidth: Rows = {
  "DE-BANDWIDTH-01": "The delegate bandwidth has the verbs, versions, results and effects of the reference plugin.",
  "DE-BANDWIDTH-02": "The key `ingressRate` bounds the bits per second towards the pod.",
  "DE-BANDWIDTH-03": "The key `ingressBurst` bounds the bits that pass at once towards the pod.",
  "DE-BANDWIDTH-04": "The key `egressRate` bounds the bits per second from the pod.",
  "DE-BANDWIDTH-05": "The key `egressBurst` bounds the bits that pass at once from the pod.",
  "DE-BANDWIDTH-06": "The key `shapedSubnets` names the networks with which alone the traffic is bounded.",
  "DE-BANDWIDTH-07": "The key `unshapedSubnets` names networks with which the traffic is not bounded.",
  "DE-BANDWIDTH-08": "The key `runtimeConfig.bandwidth` (capability `bandwidth`) counts where the configuration has no bounds.",
};

const bond: Rows = {
  "DE-BOND-01": "The delegate bond has the verbs, versions, results and effects of bond-cni.",
  "DE-BOND-02": "The key `mode` is one of the kernel's seven modes.",
  "DE-BOND-03": "The key `links` names two members or more.",
  "DE-BOND-04": "The key `linksInContainer` says whether the members are links of the pod or devices of the node.",
  "DE-BOND-05": "The key `miimon` is the interval of link monitoring.",
  "DE-BOND-06": "The key `failOverMac` is 0, 1 or 2.",
  "DE-BOND-07": "The key `mtu` is the bond's MTU, at most the members'.",
  "DE-BOND-08": "The key `allSlavesActive` delivers frames of inactive members.",
  "DE-BOND-09": "The key `tlbDynamicLb` moves flows by load in balance-tlb and balance-alb.",
  "DE-BOND-10": "The key `xmitHashPolicy` chooses the member for a frame.",
  "DE-BOND-11": "The key `ipam` gives the bond addresses and routes; without it, the bond is brought up only.",
};

const dhcp: Rows = {
  "DE-DHCP-01":
    "The delegate dhcp has the verbs, versions and results of the reference plugin, without its daemon; leases are renewed and released.",
  "DE-DHCP-02": "The key `request` names options to request beside the subnet mask and the routers.",
  "DE-DHCP-03": "The key `skipDefault` leaves out the subnet mask and the routers.",
  "DE-DHCP-04": "The key `provide` names options to send, with their values.",
  "DE-DHCP-05": "The key `fromArg` takes a value of CNI_ARGS.",
  "DE-DHCP-06": "The key `priority` is the metric of the routes.",
  "DE-DHCP-07": "The key `daemonSocketPath` is accepted, with a warning, and has no effect.",
};

const dummy: Rows = {
  "DE-DUMMY-01": "The delegate dummy has the verbs, versions, results and effects of the reference plugin.",
  "DE-DUMMY-02": "The key `ipam` is required, and gives the interface its addresses and routes.",
};

const firewall: Rows = {
  "DE-FIREWALL-01": "The delegate firewall has the verbs, versions, results and effects of the reference plugin with iptables.",
  "DE-FIREWALL-02": "The key `backend` is iptables or firewalld; with firewalld, the addresses become sources of a granted zone.",
  "DE-FIREWALL-03": "The key `iptablesAdminChainName` names the chain of the administrator's rules, which come first.",
  "DE-FIREWALL-04": "The key `firewalldZone` names the zone, unless the backend is iptables.",
  "DE-FIREWALL-05": "The key `ingressPolicy` is open, same-bridge or isolated.",
};

const hostDevice: Rows = {
  "DE-HOST-DEVICE-01": "The delegate host-device has the verbs, versions, results and effects of the reference plugin.",
  "DE-HOST-DEVICE-02": "The key `device` names the device, also by an alternative name.",
  "DE-HOST-DEVICE-03": "The key `hwaddr` selects the device by its MAC.",
  "DE-HOST-DEVICE-04": "The key `kernelpath` selects the device by its path below /sys/devices.",
  "DE-HOST-DEVICE-05": "The key `pciBusID` selects the device by its PCI address.",
  "DE-HOST-DEVICE-06": "The key `runtimeConfig.deviceID` takes precedence over `pciBusID`.",
  "DE-HOST-DEVICE-07": "The key `ipam` gives the device addresses and routes; without it, the device is brought up only.",
  "DE-HOST-DEVICE-08": "A device of a driver of user space (DPDK) stays where it is, and the result has its addresses.",
  "DE-HOST-DEVICE-09": "The key `dns` is the result's, where there is an `ipam`.",
};

const ipvlan: Rows = {
  "DE-IPVLAN-01": "The delegate ipvlan has the verbs, versions, results and effects of the reference plugin.",
  "DE-IPVLAN-02":
    "The key `master` names the lower link; without it, the link of the default route, or the interface of prevResult.",
  "DE-IPVLAN-03": "The key `mode` is l2, l3 or l3s.",
  "DE-IPVLAN-04": "The key `mtu` sets the MTU.",
  "DE-IPVLAN-05": "The key `ipam` gives the addresses; without it, prevResult has them.",
  "DE-IPVLAN-06": "With `linkInContainer` the master is a link of the pod.",
  "DE-IPVLAN-07": "The key `dns` is the result's.",
};

const ovs: Rows = {
  "DE-OVS-01": "The delegate ovs has the verbs, versions, results and effects of ovs-cni's veth ports, in a real Open vSwitch.",
  "DE-OVS-02": "The key `bridge` names the bridge; with an `ovnPort` it is br-int by default.",
  "DE-OVS-03": "The key `vlan` is the VLAN of the port's untagged frames.",
  "DE-OVS-04": "The key `trunk` names the VLANs of tagged frames by id, or by minID and maxID.",
  "DE-OVS-05": "The key `mtu` is the MTU of the veth.",
  "DE-OVS-06": "The key `ofport_request` is the requested OpenFlow port number.",
  "DE-OVS-07": "The key `interface_type` is system, which is the type of a veth's port; others are refused.",
  "DE-OVS-08": "The key `deviceID` is refused with the remedy: a virtual function needs the native plugin.",
  "DE-OVS-09": "The keys `socket_file` and `configuration_path` are refused with the remedy: the grant has the socket.",
  "DE-OVS-10": "The keys `link_state_check_retries` and `link_state_check_interval` bound the wait for ovs-vswitchd.",
  "DE-OVS-11": "The key `ipam` gives the pod's end addresses and routes; without it, the link is brought up only.",
  "DE-OVS-12": "The arguments `mac` and `ovnPort` of CNI_ARGS and of `args.cni` are the pod's MAC and the port's iface-id.",
};

const sriov: Rows = {
  "DE-SRIOV-01": "The delegate sriov sets a real virtual function, moves it into the pod and back, and restores its settings.",
  "DE-SRIOV-02": "The key `deviceID` names the virtual function by its PCI address.",
  "DE-SRIOV-03": "The key `vlan` is the VLAN of the function; 0: none.",
  "DE-SRIOV-04": "The key `vlanQoS` is the priority of the VLAN tag.",
  "DE-SRIOV-05": "The key `vlanProto` is 802.1q or 802.1ad.",
  "DE-SRIOV-06":
    "The key `mac` is the MAC of the function and of its link; MAC of CNI_ARGS and `runtimeConfig.mac` take precedence.",
  "DE-SRIOV-07": "The key `spoofchk` switches the spoof check on or off.",
  "DE-SRIOV-08": "The key `trust` switches the trust on or off.",
  "DE-SRIOV-09": "The key `link_state` is auto, enable or disable.",
  "DE-SRIOV-10": "The key `min_tx_rate` is the minimum rate in Mbit/s; 0 where only the maximum is set.",
  "DE-SRIOV-11": "The key `max_tx_rate` is the maximum rate in Mbit/s; 0: no bound.",
  "DE-SRIOV-12": "The key `ipam` gives the function addresses and routes; without it, the function is brought up only.",
  "DE-SRIOV-13": "The key `runtimeConfig.deviceID` takes precedence over `deviceID`.",
  "DE-SRIOV-14": "The result's `dns` is that of `ipam`; the key `dns` has no effect.",
  "DE-SRIOV-15": "The keys `logLevel` and `logFile` have no effect.",
  "DE-SRIOV-16": "A function of a driver of user space (DPDK) is set and stays where it is.",
};

const ptp: Rows = {
  "DE-PTP-01": "The delegate ptp has the verbs, versions, results and effects of the reference plugin.",
  "DE-PTP-02": "The key `ipMasq` masquerades the pod's packets to other networks.",
  "DE-PTP-03": "The key `ipMasqBackend` is iptables or nftables.",
  "DE-PTP-04": "The key `mtu` is the MTU of both ends.",
  "DE-PTP-05": "The key `ipam` is required, and gives the addresses, the gateway of the node's end, and the routes.",
  "DE-PTP-06": "The key `dns` is the result's; without it IPAM's is.",
};

/** Keys of route-override-cni's README. */
const routeOverride: Rows = {
  "DE-ROUTE-OVERRIDE-01": "The delegate route-override has the verbs, versions, results and effects of route-override-cni.",
  "DE-ROUTE-OVERRIDE-02": "The key `flushroutes` removes all routes but those of links and link-local ones.",
  "DE-ROUTE-OVERRIDE-03": "The key `flushgateway` removes the default routes and the gateways of the result.",
  "DE-ROUTE-OVERRIDE-04": "The key `delroutes` removes routes of the result.",
  "DE-ROUTE-OVERRIDE-05": "The key `addroutes` adds routes.",
  "DE-ROUTE-OVERRIDE-06": "The key `skipcheck` makes CHECK succeed.",
  "DE-ROUTE-OVERRIDE-07": "Members of `args.cni` replace those of the configuration.",
};

/** Keys of the documentation of the IPAM plugin static. */
const staticRows: Rows = {
  "DE-STATIC-01": "The delegate static has the verbs, versions and results of the reference plugin.",
  "DE-STATIC-02": "The key `addresses` has the addresses with their prefix lengths, and gateways.",
  "DE-STATIC-03": "The key `routes` are the result's.",
  "DE-STATIC-04": "The key `dns` is the result's.",
  "DE-STATIC-05": "The pairs `IP` and `GATEWAY` of CNI_ARGS add addresses with gateways.",
  "DE-STATIC-06": "The key `args.cni.ips` replaces the addresses.",
  "DE-STATIC-07": "The key `runtimeConfig.ips` (capability `ips`) replaces all other addresses.",
};

const sbr: Rows = {
  "DE-SBR-01": "The delegate sbr has the verbs, versions, results and effects of the reference plugin.",
  "DE-SBR-02": "With `table` sbr adds rules for this table alone; without it each address gets a table of its own.",
};

const tap: Rows = {
  "DE-TAP-01": "The delegate tap has the verbs, versions, results and effects of the reference plugin.",
  "DE-TAP-02": "The key `mac` sets the MAC; MAC of CNI_ARGS and `runtimeConfig.mac` take precedence.",
  "DE-TAP-03": "The key `mtu` sets the MTU.",
  "DE-TAP-04": "The key `multiQueue` makes a device of several queues.",
  "DE-TAP-05": "The key `owner` is the user that may open the device.",
  "DE-TAP-06": "The key `group` is the group that may open the device.",
  "DE-TAP-07": "The key `selinuxContext` is the context in which the device is made.",
  "DE-TAP-08": "The key `bridge` is a bridge of the pod whose port the device becomes.",
  "DE-TAP-09": "The key `ipam` gives the addresses; without it, the interface is brought up only.",
  "DE-TAP-10": "The key `dns` is the result's.",
};

const vlan: Rows = {
  "DE-VLAN-01": "The delegate vlan has the verbs, versions, results and effects of the reference plugin.",
  "DE-VLAN-02": "The key `master` is required, and names the lower link.",
  "DE-VLAN-03": "The key `vlanId` is the VLAN, 0 to 4094.",
  "DE-VLAN-04": "The key `mtu` sets the MTU, at most the master's.",
  "DE-VLAN-05": "The key `ipam` is required, and gives the addresses and routes.",
  "DE-VLAN-06": "The key `dns` is the result's.",
  "DE-VLAN-07": "With `linkInContainer` the master is a link of the pod.",
};

const vrf: Rows = {
  "DE-VRF-01": "The delegate vrf has the verbs, versions, results and effects of the reference plugin.",
  "DE-VRF-02": "The key `vrfname` names the VRF, which is made unless the pod has it, and goes with its last interface.",
  "DE-VRF-03": "The key `table` is the routing table; without it, the first that no VRF of the pod uses.",
};

/** The rows of the delegates, by plugin. */
export const delegates: Rows = {
  ...bandwidth,
  ...bond,
  ...dhcp,
  ...dummy,
  ...firewall,
  ...hostDevice,
  ...ipvlan,
  ...ovs,
  ...ptp,
  ...routeOverride,
  ...sbr,
  ...sriov,
  ...staticRows,
  ...tap,
  ...vlan,
  ...vrf,
};
