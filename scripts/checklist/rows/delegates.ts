// Delegates in place of the reference plugins: for each plugin a row for its verbs, and one for each key of its documentation 1.9.1 (https://www.cni.dev/plugins/current/).

type Rows = Readonly<Record<string, string>>;

const dummy: Rows = {
  "DE-DUMMY-01": "The delegate dummy has the verbs, versions, results and effects of the reference plugin.",
  "DE-DUMMY-02": "`ipam` is required, and gives the interface its addresses and routes.",
};

const ipvlan: Rows = {
  "DE-IPVLAN-01": "The delegate ipvlan has the verbs, versions, results and effects of the reference plugin.",
  "DE-IPVLAN-02": "`master` names the lower link; without it, the link of the default route, or the interface of prevResult.",
  "DE-IPVLAN-03": "`mode` is l2, l3 or l3s.",
  "DE-IPVLAN-04": "`mtu` sets the MTU.",
  "DE-IPVLAN-05": "`ipam` gives the addresses; without it, prevResult has them.",
  "DE-IPVLAN-06": "With `linkInContainer` the master is a link of the pod.",
  "DE-IPVLAN-07": "`dns` is the result's.",
};

const sbr: Rows = {
  "DE-SBR-01": "The delegate sbr has the verbs, versions, results and effects of the reference plugin.",
  "DE-SBR-02": "With `table` sbr adds rules for this table alone; without it each address gets a table of its own.",
};

const tap: Rows = {
  "DE-TAP-01": "The delegate tap has the verbs, versions, results and effects of the reference plugin.",
  "DE-TAP-02": "`mac` sets the MAC; MAC of CNI_ARGS and `runtimeConfig.mac` take precedence.",
  "DE-TAP-03": "`mtu` sets the MTU.",
  "DE-TAP-04": "`multiQueue` makes a device of several queues.",
  "DE-TAP-05": "`owner` is the user that may open the device.",
  "DE-TAP-06": "`group` is the group that may open the device.",
  "DE-TAP-07": "`selinuxContext` is the context in which the device is made.",
  "DE-TAP-08": "`bridge` is a bridge of the pod whose port the device becomes.",
  "DE-TAP-09": "`ipam` gives the addresses; without it, the interface is brought up only.",
  "DE-TAP-10": "`dns` is the result's.",
};

const vlan: Rows = {
  "DE-VLAN-01": "The delegate vlan has the verbs, versions, results and effects of the reference plugin.",
  "DE-VLAN-02": "`master` is required, and names the lower link.",
  "DE-VLAN-03": "`vlanId` is the VLAN, 0 to 4094.",
  "DE-VLAN-04": "`mtu` sets the MTU, at most the master's.",
  "DE-VLAN-05": "`ipam` is required, and gives the addresses and routes.",
  "DE-VLAN-06": "`dns` is the result's.",
  "DE-VLAN-07": "With `linkInContainer` the master is a link of the pod.",
};

const vrf: Rows = {
  "DE-VRF-01": "The delegate vrf has the verbs, versions, results and effects of the reference plugin.",
  "DE-VRF-02": "`vrfname` names the VRF, which is made unless the pod has it, and goes with its last interface.",
  "DE-VRF-03": "`table` is the routing table; without it, the first that no VRF of the pod uses.",
};

/** The rows of the delegates, by plugin. */
export const delegates: Rows = { ...dummy, ...ipvlan, ...sbr, ...tap, ...vlan, ...vrf };
