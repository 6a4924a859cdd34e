// Generated from wit/1.1.0/delegate.wit. Do not edit: run `node wit/codegen/write.ts`.

import type { Guest, ImportGlue, Outcome, VerbGlue } from "../guest.ts";

/** The WIT type `log.level`. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** The WIT type `types.fault`. */
export interface Fault {
  readonly code: number;
  readonly msg: string;
  readonly details?: string | undefined;
}

/** The WIT type `types.network-interface`. */
export interface NetworkInterface {
  readonly name: string;
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
  readonly sandbox?: string | undefined;
  readonly socketPath?: string | undefined;
  readonly pciId?: string | undefined;
}

/** The WIT type `types.ip-config`. */
export interface IpConfig {
  readonly address: string;
  readonly gateway?: string | undefined;
  readonly interface?: number | undefined;
}

/** The WIT type `types.route`. */
export interface Route {
  readonly dst: string;
  readonly gw?: string | undefined;
  readonly mtu?: number | undefined;
  readonly advmss?: number | undefined;
  readonly priority?: number | undefined;
  readonly table?: number | undefined;
  readonly scope?: number | undefined;
}

/** The WIT type `types.dns`. */
export interface Dns {
  readonly nameservers: readonly string[];
  readonly domain?: string | undefined;
  readonly search: readonly string[];
  readonly options: readonly string[];
}

/** The WIT type `types.success`. */
export interface Success {
  readonly interfaces: readonly NetworkInterface[];
  readonly ips: readonly IpConfig[];
  readonly routes: readonly Route[];
  readonly dns?: Dns | undefined;
}

/** The WIT type `types.arg`. */
export interface Arg {
  readonly key: string;
  readonly value: string;
}

/** The WIT type `types.pod`. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** The WIT type `types.attachment`. */
export interface Attachment {
  readonly containerId: string;
  readonly netns?: string | undefined;
  readonly ifname: string;
  readonly args: readonly Arg[];
  readonly pod?: Pod | undefined;
}

/** The WIT type `types.call`. */
export interface Call {
  readonly remainingMs: number;
  readonly granted: readonly string[];
}

/** The WIT type `types.network`. */
export interface Network {
  readonly cniVersion: string;
  readonly name: string;
  readonly config: string;
}

/** The WIT type `types.attachment-request`. */
export interface AttachmentRequest {
  readonly call: Call;
  readonly network: Network;
  readonly attachment: Attachment;
  readonly prevResult?: Success | undefined;
}

/** The WIT type `types.attachment-id`. */
export interface AttachmentId {
  readonly containerId: string;
  readonly ifname: string;
}

/** The WIT type `types.gc-request`. */
export interface GcRequest {
  readonly call: Call;
  readonly network: Network;
  readonly valid: readonly AttachmentId[];
}

/** The WIT type `types.status-request`. */
export interface StatusRequest {
  readonly call: Call;
  readonly network: Network;
}

/** The WIT type `leases.address-range`. */
export interface LeasesAddressRange {
  readonly first: string;
  readonly last: string;
}

/** The WIT type `leases.pool`. */
export interface LeasesPool {
  readonly directory?: string | undefined;
  readonly set: number;
}

/** The WIT type `leases.reservation`. */
export interface LeasesReservation {
  readonly address: string;
  readonly heldBefore: boolean;
}

/** The WIT type `links.place`. */
export type LinksPlace = "host" | "pod";

/** The WIT type `links.link-name`. */
export interface LinksLinkName {
  readonly place: LinksPlace;
  readonly name: string;
}

/** The WIT type `links.bridge`. */
export interface LinksBridge {
  readonly name: string;
  readonly mtu?: number | undefined;
  readonly vlanFiltering: boolean;
  readonly defaultPvid?: number | undefined;
}

/** The WIT type `links.vlan-gateway`. */
export interface LinksVlanGateway {
  readonly bridge: string;
  readonly id: number;
  readonly mtu?: number | undefined;
  readonly keepDefaultVlan: boolean;
}

/** The WIT type `links.port`. */
export interface LinksPort {
  readonly hairpin?: boolean | undefined;
  readonly isolated?: boolean | undefined;
  readonly learning?: boolean | undefined;
  readonly flood?: boolean | undefined;
}

/** The WIT type `links.port-vlan`. */
export interface LinksPortVlan {
  readonly first: number;
  readonly last: number;
  readonly pvid: boolean;
  readonly untagged: boolean;
}

/** The WIT type `links.veth`. */
export interface LinksVeth {
  readonly name: string;
  readonly hostName?: string | undefined;
  readonly mac?: string | undefined;
  readonly hostMac?: string | undefined;
  readonly mtu?: number | undefined;
  readonly master?: string | undefined;
  readonly port?: LinksPort | undefined;
  readonly vlans: readonly LinksPortVlan[];
  readonly keepDefaultVlan: boolean;
  readonly up: boolean;
}

/** The WIT type `links.macvlan-mode`. */
export type LinksMacvlanMode = "bridge" | "private" | "vepa" | "passthru";

/** The WIT type `links.macvlan`. */
export interface LinksMacvlan {
  readonly name: string;
  readonly parent: LinksLinkName;
  readonly mode: LinksMacvlanMode;
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
  readonly broadcastQueue?: number | undefined;
}

/** The WIT type `links.ipvlan-mode`. */
export type LinksIpvlanMode = "l2" | "l3" | "l3s";

/** The WIT type `links.ipvlan`. */
export interface LinksIpvlan {
  readonly name: string;
  readonly parent: LinksLinkName;
  readonly mode: LinksIpvlanMode;
  readonly mtu?: number | undefined;
}

/** The WIT type `links.vlan`. */
export interface LinksVlan {
  readonly name: string;
  readonly parent: LinksLinkName;
  readonly id: number;
  readonly mtu?: number | undefined;
}

/** The WIT type `links.dummy`. */
export interface LinksDummy {
  readonly name: string;
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
}

/** The WIT type `links.vrf`. */
export interface LinksVrf {
  readonly name: string;
  readonly table: number;
}

/** The WIT type `links.tap`. */
export interface LinksTap {
  readonly name: string;
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
  readonly multiQueue: boolean;
  readonly owner?: number | undefined;
  readonly group?: number | undefined;
  readonly selinuxContext?: string | undefined;
}

/** The WIT type `links.bond-mode`. */
export type LinksBondMode = "balance-rr" | "active-backup" | "balance-xor" | "broadcast" | "ieee8023ad" | "balance-tlb" | "balance-alb";

/** The WIT type `links.transmit-hash`. */
export type LinksTransmitHash = "layer2" | "layer34" | "layer23" | "encap23" | "encap34" | "vlan-source-mac";

/** The WIT type `links.bond`. */
export interface LinksBond {
  readonly name: string;
  readonly mode: LinksBondMode;
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
  readonly monitorInterval?: number | undefined;
  readonly failOverMac?: number | undefined;
  readonly allMembersActive?: boolean | undefined;
  readonly dynamicBalancing?: boolean | undefined;
  readonly transmitHash?: LinksTransmitHash | undefined;
}

/** The WIT type `links.device-selector`. */
export interface LinksDeviceSelector {
  readonly name?: string | undefined;
  readonly mac?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly kernelPath?: string | undefined;
}

/** The WIT type `links.taking`. */
export interface LinksTaking {
  readonly device: LinksDeviceSelector;
  readonly name: string;
  readonly keepAddresses: boolean;
}

/** The WIT type `links.vf-link-state`. */
export type LinksVfLinkState = "auto" | "enable" | "disable";

/** The WIT type `links.vf-settings`. */
export interface LinksVfSettings {
  readonly pciAddress: string;
  readonly mac?: string | undefined;
  readonly vlan?: number | undefined;
  readonly vlanQos?: number | undefined;
  readonly vlanServiceTag: boolean;
  readonly minRate?: number | undefined;
  readonly maxRate?: number | undefined;
  readonly spoofCheck?: boolean | undefined;
  readonly trust?: boolean | undefined;
  readonly linkState?: LinksVfLinkState | undefined;
}

/** The WIT type `links.change`. */
export interface LinksChange {
  readonly link: LinksLinkName;
  readonly up?: boolean | undefined;
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
  readonly promiscuous?: boolean | undefined;
  readonly allMulticast?: boolean | undefined;
  readonly txQueueLength?: number | undefined;
  readonly master?: string | undefined;
  readonly alternativeNames: readonly string[];
}

/** The WIT type `links.port-change`. */
export interface LinksPortChange {
  readonly link: string;
  readonly port: LinksPort;
}

/** The WIT type `links.port-vlan-change`. */
export interface LinksPortVlanChange {
  readonly link: string;
  readonly vlan: LinksPortVlan;
}

/** The WIT type `links.address-change`. */
export interface LinksAddressChange {
  readonly link: LinksLinkName;
  readonly address: string;
  readonly noDad: boolean;
}

/** The WIT type `links.address-wish`. */
export interface LinksAddressWish {
  readonly link: LinksLinkName;
  readonly address: string;
  readonly replace: boolean;
}

/** The WIT type `links.route-change`. */
export interface LinksRouteChange {
  readonly link?: LinksLinkName | undefined;
  readonly place: LinksPlace;
  readonly route: Route;
  readonly onLink: boolean;
  readonly source?: string | undefined;
}

/** The WIT type `links.neighbour`. */
export interface LinksNeighbour {
  readonly address: string;
  readonly mac?: string | undefined;
  readonly proxy: boolean;
}

/** The WIT type `links.neighbour-change`. */
export interface LinksNeighbourChange {
  readonly link: LinksLinkName;
  readonly neighbour: LinksNeighbour;
}

/** The WIT type `links.family`. */
export type LinksFamily = "ipv4" | "ipv6";

/** The WIT type `links.interface-setting`. */
export interface LinksInterfaceSetting {
  readonly link: LinksLinkName;
  readonly family: LinksFamily;
  readonly name: string;
  readonly value: string;
  readonly required: boolean;
}

/** The WIT type `links.settling`. */
export interface LinksSettling {
  readonly link: LinksLinkName;
  readonly milliseconds: number;
}

/** The WIT type `links.operation`. */
export type LinksOperation =
  | { readonly tag: "ensure-bridge"; readonly val: LinksBridge }
  | { readonly tag: "ensure-vlan-gateway"; readonly val: LinksVlanGateway }
  | { readonly tag: "add-veth"; readonly val: LinksVeth }
  | { readonly tag: "add-macvlan"; readonly val: LinksMacvlan }
  | { readonly tag: "add-ipvlan"; readonly val: LinksIpvlan }
  | { readonly tag: "add-vlan"; readonly val: LinksVlan }
  | { readonly tag: "add-dummy"; readonly val: LinksDummy }
  | { readonly tag: "add-vrf"; readonly val: LinksVrf }
  | { readonly tag: "add-tap"; readonly val: LinksTap }
  | { readonly tag: "add-bond"; readonly val: LinksBond }
  | { readonly tag: "take-device"; readonly val: LinksTaking }
  | { readonly tag: "give-back"; readonly val: string }
  | { readonly tag: "set-vf"; readonly val: LinksVfSettings }
  | { readonly tag: "delete-link"; readonly val: LinksLinkName }
  | { readonly tag: "change-link"; readonly val: LinksChange }
  | { readonly tag: "change-port"; readonly val: LinksPortChange }
  | { readonly tag: "add-port-vlan"; readonly val: LinksPortVlanChange }
  | { readonly tag: "delete-port-vlan"; readonly val: LinksPortVlanChange }
  | { readonly tag: "add-address"; readonly val: LinksAddressChange }
  | { readonly tag: "ensure-address"; readonly val: LinksAddressWish }
  | { readonly tag: "delete-address"; readonly val: LinksAddressChange }
  | { readonly tag: "add-route"; readonly val: LinksRouteChange }
  | { readonly tag: "delete-route"; readonly val: LinksRouteChange }
  | { readonly tag: "add-neighbour"; readonly val: LinksNeighbourChange }
  | { readonly tag: "delete-neighbour"; readonly val: LinksNeighbourChange }
  | { readonly tag: "set-interface"; readonly val: LinksInterfaceSetting }
  | { readonly tag: "enable-forwarding"; readonly val: LinksFamily }
  | { readonly tag: "settle"; readonly val: LinksSettling };

/** The WIT type `links.address`. */
export interface LinksAddress {
  readonly address: string;
  readonly tentative: boolean;
  readonly dadFailed: boolean;
}

/** The WIT type `links.device-facts`. */
export interface LinksDeviceFacts {
  readonly driver?: string | undefined;
  readonly pciAddress?: string | undefined;
  readonly speed?: number | undefined;
  readonly numaNode?: number | undefined;
  readonly physicalFunction?: string | undefined;
  readonly rdmaDevices: readonly string[];
}

/** The WIT type `links.link`. */
export interface LinksLink {
  readonly place: LinksPlace;
  readonly name: string;
  readonly index: number;
  readonly kind: string;
  readonly mac?: string | undefined;
  readonly mtu: number;
  readonly up: boolean;
  readonly running: boolean;
  readonly promiscuous: boolean;
  readonly allMulticast: boolean;
  readonly txQueueLength: number;
  readonly alternativeNames: readonly string[];
  readonly master?: string | undefined;
  readonly peer?: string | undefined;
  readonly parent?: string | undefined;
  readonly mode?: string | undefined;
  readonly vlanId?: number | undefined;
  readonly vlanFiltering?: boolean | undefined;
  readonly port?: LinksPort | undefined;
  readonly portVlans: readonly LinksPortVlan[];
  readonly addresses: readonly LinksAddress[];
  readonly members: readonly string[];
  readonly carrier: boolean;
  readonly peerIndex?: number | undefined;
  readonly device?: LinksDeviceFacts | undefined;
}

/** The WIT type `links.device`. */
export interface LinksDevice {
  readonly link?: string | undefined;
  readonly mac?: string | undefined;
  readonly facts: LinksDeviceFacts;
}

/** The WIT type `links.installed-route`. */
export interface LinksInstalledRoute {
  readonly dst: string;
  readonly gw?: string | undefined;
  readonly mtu?: number | undefined;
  readonly advmss?: number | undefined;
  readonly priority?: number | undefined;
  readonly table?: number | undefined;
  readonly scope?: number | undefined;
  readonly link?: string | undefined;
  readonly source?: string | undefined;
}

/** The WIT type `sysctl.setting`. */
export interface SysctlSetting {
  readonly key: string;
  readonly value: string;
}

/** The WIT type `firewall.protocol`. */
export type FirewallProtocol = "tcp" | "udp" | "sctp";

/** The WIT type `firewall.masquerade`. */
export interface FirewallMasquerade {
  readonly address: string;
}

/** The WIT type `firewall.masquerading`. */
export type FirewallMasquerading = "none" | "local" | "all";

/** The WIT type `firewall.port-mapping`. */
export interface FirewallPortMapping {
  readonly protocol: FirewallProtocol;
  readonly hostAddress?: string | undefined;
  readonly hostPort: number;
  readonly podAddress: string;
  readonly podPort: number;
  readonly masquerading: FirewallMasquerading;
}

/** The WIT type `firewall.rules`. */
export interface FirewallRules {
  readonly masquerades: readonly FirewallMasquerade[];
  readonly portMappings: readonly FirewallPortMapping[];
}

/** The WIT type `firewall.side`. */
export type FirewallSide = "source" | "destination";

/** The WIT type `firewall.condition`. */
export interface FirewallCondition {
  readonly side: FirewallSide;
  readonly negated: boolean;
  readonly network: string;
}

/** The WIT type `announce.conflict`. */
export interface AnnounceConflict {
  readonly address: string;
  readonly mac: string;
}

/** The WIT type `ovs.vlan-range`. */
export interface OvsVlanRange {
  readonly first: number;
  readonly last: number;
}

/** The WIT type `ovs.new-port`. */
export interface OvsNewPort {
  readonly bridge: string;
  readonly link: string;
  readonly interfaceId: string;
  readonly mac: string;
  readonly tag?: number | undefined;
  readonly trunks?: readonly OvsVlanRange[] | undefined;
  readonly number?: number | undefined;
}

/** The WIT type `ovs.port-state`. */
export interface OvsPortState {
  readonly bridge: string;
  readonly link: string;
  readonly interfaceId: string;
  readonly mac: string;
  readonly number?: number | undefined;
  readonly error?: string | undefined;
  readonly linkUp: boolean;
  readonly installed: boolean;
  readonly tag?: number | undefined;
  readonly trunks: readonly OvsVlanRange[];
}

/** The WIT type `routing.mark`. */
export interface RoutingMark {
  readonly value: number;
  readonly mask: number;
}

/** The WIT type `routing.rule`. */
export interface RoutingRule {
  readonly family: LinksFamily;
  readonly priority?: number | undefined;
  readonly source?: string | undefined;
  readonly destination?: string | undefined;
  readonly incomingLink?: string | undefined;
  readonly outgoingLink?: string | undefined;
  readonly mark?: RoutingMark | undefined;
  readonly table: number;
}

/** The WIT type `shaping.bucket`. */
export interface ShapingBucket {
  readonly rate: number;
  readonly burst: number;
  readonly latency: number;
}

/** The WIT type `shaping.shape`. */
export interface ShapingShape {
  readonly ingress?: ShapingBucket | undefined;
  readonly egress?: ShapingBucket | undefined;
  readonly networks: readonly string[];
  readonly exempt: readonly string[];
}

/** The WIT type `shaping.device`. */
export interface ShapingDevice {
  readonly name: string;
  readonly mac: string;
}

/** The WIT type `shaping.counters`. */
export interface ShapingCounters {
  readonly bytes: number;
  readonly packets: number;
  readonly drops: number;
}

/** The WIT type `shaping.traffic`. */
export interface ShapingTraffic {
  readonly ingress?: ShapingCounters | undefined;
  readonly egress?: ShapingCounters | undefined;
}

/** The WIT type `filter.ingress-policy`. */
export type FilterIngressPolicy = "open" | "same-bridge" | "isolated";

/** The WIT type `filter.acceptance`. */
export interface FilterAcceptance {
  readonly addresses: readonly string[];
  readonly adminChain: string;
  readonly ingress: FilterIngressPolicy;
  readonly bridge?: string | undefined;
  readonly zone?: string | undefined;
}

/** The WIT type `dhcp.option-value`. */
export interface DhcpOptionValue {
  readonly number: number;
  readonly value: readonly number[];
}

/** The WIT type `dhcp.request`. */
export interface DhcpRequest {
  readonly requested: readonly number[];
  readonly provided: readonly DhcpOptionValue[];
  readonly milliseconds: number;
}

/** The WIT type `dhcp.lease`. */
export interface DhcpLease {
  readonly address: string;
  readonly gateway?: string | undefined;
  readonly routes: readonly Route[];
  readonly dns: Dns;
  readonly mtu?: number | undefined;
  readonly options: readonly DhcpOptionValue[];
}

/** The WIT type `flows.protocol`. */
export type FlowsProtocol = "tcp" | "udp" | "sctp";

/** The WIT type `flows.port`. */
export interface FlowsPort {
  readonly protocol: FlowsProtocol;
  readonly number: number;
}

/** Capability `log`. */
export interface LogCapability {
  write(level: LogLevel, message: string): void;
}

/** Capability `leases`. */
export interface LeasesCapability {
  reserve(pool: LeasesPool, address: string, owner: AttachmentId): Outcome<boolean, Fault>;
  reserveNext(pool: LeasesPool, ranges: readonly LeasesAddressRange[], skip: readonly string[], owner: AttachmentId): Outcome<LeasesReservation | undefined, Fault>;
  held(pool: LeasesPool, owner: AttachmentId): Outcome<readonly string[], Fault>;
  release(pool: LeasesPool, owner: AttachmentId): Outcome<number, Fault>;
  retain(pool: LeasesPool, valid: readonly AttachmentId[]): Outcome<number, Fault>;
  count(pool: LeasesPool, ranges: readonly LeasesAddressRange[], limit: number): Outcome<number, Fault>;
  probe(pool: LeasesPool): Outcome<undefined, Fault>;
}

/** Capability `resolver`. */
export interface ResolverCapability {
  read(path: string): Outcome<Dns, Fault>;
}

/** Capability `links`. */
export interface LinksCapability {
  apply(operations: readonly LinksOperation[]): Outcome<readonly LinksLink[], Fault>;
  read(names: readonly LinksLinkName[]): Outcome<readonly LinksLink[], Fault>;
  routes(link: LinksLinkName | undefined): Outcome<readonly LinksInstalledRoute[], Fault>;
  vrfs(): Outcome<readonly LinksVrf[], Fault>;
  defaultLink(place: LinksPlace): Outcome<string | undefined, Fault>;
  findDevice(selector: LinksDeviceSelector): Outcome<LinksDevice | undefined, Fault>;
  retainDevices(valid: readonly AttachmentId[]): Outcome<number, Fault>;
  neighbours(link: LinksLinkName): Outcome<readonly LinksNeighbour[], Fault>;
}

/** Capability `sysctl`. */
export interface SysctlCapability {
  read(keys: readonly string[]): Outcome<readonly string[], Fault>;
  write(settings: readonly SysctlSetting[]): Outcome<readonly string[], Fault>;
}

/** Capability `firewall`. */
export interface FirewallCapability {
  replace(rules: FirewallRules): Outcome<undefined, Fault>;
  check(rules: FirewallRules): Outcome<boolean, Fault>;
  replaceRestricted(rules: FirewallRules, conditions: readonly FirewallCondition[]): Outcome<undefined, Fault>;
  checkRestricted(rules: FirewallRules, conditions: readonly FirewallCondition[]): Outcome<boolean, Fault>;
  guardFrames(link: string, mac: string): Outcome<undefined, Fault>;
  framesGuarded(link: string, mac: string): Outcome<boolean, Fault>;
  remove(): Outcome<undefined, Fault>;
  retain(valid: readonly AttachmentId[]): Outcome<number, Fault>;
  probe(): Outcome<undefined, Fault>;
}

/** Capability `announce`. */
export interface AnnounceCapability {
  send(addresses: readonly string[]): Outcome<undefined, Fault>;
  probe(addresses: readonly string[], probes: number, milliseconds: number): Outcome<readonly AnnounceConflict[], Fault>;
}

/** Capability `delegation`. */
export interface DelegationCapability {
  add(type: string, config: string | undefined): Outcome<Success, Fault>;
  del(type: string, config: string | undefined): Outcome<undefined, Fault>;
  check(type: string, config: string | undefined): Outcome<undefined, Fault>;
  gc(type: string, config: string | undefined): Outcome<undefined, Fault>;
  status(type: string, config: string | undefined): Outcome<undefined, Fault>;
}

/** Capability `state`. */
export interface StateCapability {
  load(directory: string | undefined): Outcome<string | undefined, Fault>;
  save(directory: string | undefined, text: string): Outcome<undefined, Fault>;
  remove(directory: string | undefined): Outcome<undefined, Fault>;
}

/** Capability `ovs`. */
export interface OvsCapability {
  addPort(port: OvsNewPort): Outcome<undefined, Fault>;
  settle(link: string, milliseconds: number): Outcome<OvsPortState, Fault>;
  port(link: string): Outcome<OvsPortState | undefined, Fault>;
  ports(): Outcome<readonly OvsPortState[], Fault>;
  removePort(link: string): Outcome<boolean, Fault>;
  removePorts(): Outcome<number, Fault>;
  retain(valid: readonly AttachmentId[]): Outcome<number, Fault>;
  probe(): Outcome<undefined, Fault>;
}

/** Capability `routing`. */
export interface RoutingCapability {
  addRules(place: LinksPlace, rules: readonly RoutingRule[]): Outcome<undefined, Fault>;
  deleteRules(place: LinksPlace, rules: readonly RoutingRule[]): Outcome<undefined, Fault>;
  listRules(place: LinksPlace): Outcome<readonly RoutingRule[], Fault>;
  routes(place: LinksPlace, table: number): Outcome<readonly LinksInstalledRoute[], Fault>;
  freeTables(count: number): Outcome<readonly number[], Fault>;
}

/** Capability `shaping`. */
export interface ShapingCapability {
  nodeLink(): Outcome<string | undefined, Fault>;
  replace(shape: ShapingShape): Outcome<ShapingDevice | undefined, Fault>;
  difference(shape: ShapingShape): Outcome<string | undefined, Fault>;
  usage(): Outcome<ShapingTraffic, Fault>;
  remove(): Outcome<undefined, Fault>;
  retain(valid: readonly AttachmentId[]): Outcome<number, Fault>;
}

/** Capability `filter`. */
export interface FilterCapability {
  replace(acceptance: FilterAcceptance): Outcome<undefined, Fault>;
  difference(acceptance: FilterAcceptance): Outcome<string | undefined, Fault>;
  remove(): Outcome<undefined, Fault>;
  retain(valid: readonly AttachmentId[]): Outcome<number, Fault>;
  probe(): Outcome<undefined, Fault>;
}

/** Capability `dhcp`. */
export interface DhcpCapability {
  acquire(request: DhcpRequest): Outcome<DhcpLease, Fault>;
  held(): Outcome<DhcpLease | undefined, Fault>;
  release(): Outcome<undefined, Fault>;
  retain(valid: readonly AttachmentId[]): Outcome<number, Fault>;
  probe(): Outcome<undefined, Fault>;
}

/** Capability `flows`. */
export interface FlowsCapability {
  forget(addresses: readonly string[], ports: readonly FlowsPort[]): Outcome<number, Fault>;
}

/** Every capability of this ABI version. */
export interface Capabilities {
  readonly log: LogCapability;
  readonly leases: LeasesCapability;
  readonly resolver: ResolverCapability;
  readonly links: LinksCapability;
  readonly sysctl: SysctlCapability;
  readonly firewall: FirewallCapability;
  readonly announce: AnnounceCapability;
  readonly delegation: DelegationCapability;
  readonly state: StateCapability;
  readonly ovs: OvsCapability;
  readonly routing: RoutingCapability;
  readonly shaping: ShapingCapability;
  readonly filter: FilterCapability;
  readonly dhcp: DhcpCapability;
  readonly flows: FlowsCapability;
}

/** The request, the success and the failure of each verb. */
export interface VerbTypes {
  readonly add: { readonly request: AttachmentRequest; readonly success: Success; readonly failure: Fault };
  readonly del: { readonly request: AttachmentRequest; readonly success: undefined; readonly failure: Fault };
  readonly check: { readonly request: AttachmentRequest; readonly success: undefined; readonly failure: Fault };
  readonly gc: { readonly request: GcRequest; readonly success: undefined; readonly failure: Fault };
  readonly status: { readonly request: StatusRequest; readonly success: undefined; readonly failure: Fault };
}

const labelsOfLogLevel = ["debug","info","warn","error"] as const;

function liftLogLevel(g: Guest, value: number): LogLevel {
  return g.label(labelsOfLogLevel, value);
}

function loadFault(g: Guest, at: number): Fault {
  return {
    code: g.u32(at),
    msg: g.loadString(at + 4),
    details: (g.discriminant(at + 12, 1, 2) === 0 ? undefined : g.loadString(at + 12 + 4)),
  };
}

function storeFault(g: Guest, at: number, value: Fault): void {
  g.storeU32(at, value.code);
  g.storeString(at + 4, value.msg);
  if (value.details === undefined) g.storeU8(at + 12, 0); else { g.storeU8(at + 12, 1); g.storeString(at + 12 + 4, value.details); }
}

function loadNetworkInterface(g: Guest, at: number): NetworkInterface {
  return {
    name: g.loadString(at),
    mac: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    mtu: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.u32(at + 20 + 4)),
    sandbox: (g.discriminant(at + 28, 1, 2) === 0 ? undefined : g.loadString(at + 28 + 4)),
    socketPath: (g.discriminant(at + 40, 1, 2) === 0 ? undefined : g.loadString(at + 40 + 4)),
    pciId: (g.discriminant(at + 52, 1, 2) === 0 ? undefined : g.loadString(at + 52 + 4)),
  };
}

function storeNetworkInterface(g: Guest, at: number, value: NetworkInterface): void {
  g.storeString(at, value.name);
  if (value.mac === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.mac); }
  if (value.mtu === undefined) g.storeU8(at + 20, 0); else { g.storeU8(at + 20, 1); g.storeU32(at + 20 + 4, value.mtu); }
  if (value.sandbox === undefined) g.storeU8(at + 28, 0); else { g.storeU8(at + 28, 1); g.storeString(at + 28 + 4, value.sandbox); }
  if (value.socketPath === undefined) g.storeU8(at + 40, 0); else { g.storeU8(at + 40, 1); g.storeString(at + 40 + 4, value.socketPath); }
  if (value.pciId === undefined) g.storeU8(at + 52, 0); else { g.storeU8(at + 52, 1); g.storeString(at + 52 + 4, value.pciId); }
}

function loadIpConfig(g: Guest, at: number): IpConfig {
  return {
    address: g.loadString(at),
    gateway: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    interface: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.s32(at + 20 + 4)),
  };
}

function storeIpConfig(g: Guest, at: number, value: IpConfig): void {
  g.storeString(at, value.address);
  if (value.gateway === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.gateway); }
  if (value.interface === undefined) g.storeU8(at + 20, 0); else { g.storeU8(at + 20, 1); g.storeS32(at + 20 + 4, value.interface); }
}

function loadRoute(g: Guest, at: number): Route {
  return {
    dst: g.loadString(at),
    gw: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    mtu: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.u32(at + 20 + 4)),
    advmss: (g.discriminant(at + 28, 1, 2) === 0 ? undefined : g.u32(at + 28 + 4)),
    priority: (g.discriminant(at + 36, 1, 2) === 0 ? undefined : g.u32(at + 36 + 4)),
    table: (g.discriminant(at + 44, 1, 2) === 0 ? undefined : g.u32(at + 44 + 4)),
    scope: (g.discriminant(at + 52, 1, 2) === 0 ? undefined : g.u32(at + 52 + 4)),
  };
}

function storeRoute(g: Guest, at: number, value: Route): void {
  g.storeString(at, value.dst);
  if (value.gw === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.gw); }
  if (value.mtu === undefined) g.storeU8(at + 20, 0); else { g.storeU8(at + 20, 1); g.storeU32(at + 20 + 4, value.mtu); }
  if (value.advmss === undefined) g.storeU8(at + 28, 0); else { g.storeU8(at + 28, 1); g.storeU32(at + 28 + 4, value.advmss); }
  if (value.priority === undefined) g.storeU8(at + 36, 0); else { g.storeU8(at + 36, 1); g.storeU32(at + 36 + 4, value.priority); }
  if (value.table === undefined) g.storeU8(at + 44, 0); else { g.storeU8(at + 44, 1); g.storeU32(at + 44 + 4, value.table); }
  if (value.scope === undefined) g.storeU8(at + 52, 0); else { g.storeU8(at + 52, 1); g.storeU32(at + 52 + 4, value.scope); }
}

function loadDns(g: Guest, at: number): Dns {
  return {
    nameservers: g.loadList(at, 8, 4, (_, e) => g.loadString(e)),
    domain: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    search: g.loadList(at + 20, 8, 4, (_, e) => g.loadString(e)),
    options: g.loadList(at + 28, 8, 4, (_, e) => g.loadString(e)),
  };
}

function storeDns(g: Guest, at: number, value: Dns): void {
  g.storeList(at, value.nameservers, 8, 4, (e, v) => { g.storeString(e, v); });
  if (value.domain === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.domain); }
  g.storeList(at + 20, value.search, 8, 4, (e, v) => { g.storeString(e, v); });
  g.storeList(at + 28, value.options, 8, 4, (e, v) => { g.storeString(e, v); });
}

function loadSuccess(g: Guest, at: number): Success {
  return {
    interfaces: g.loadList(at, 64, 4, loadNetworkInterface),
    ips: g.loadList(at + 8, 28, 4, loadIpConfig),
    routes: g.loadList(at + 16, 60, 4, loadRoute),
    dns: (g.discriminant(at + 24, 1, 2) === 0 ? undefined : loadDns(g, at + 24 + 4)),
  };
}

function storeSuccess(g: Guest, at: number, value: Success): void {
  g.storeList(at, value.interfaces, 64, 4, (e, v) => { storeNetworkInterface(g, e, v); });
  g.storeList(at + 8, value.ips, 28, 4, (e, v) => { storeIpConfig(g, e, v); });
  g.storeList(at + 16, value.routes, 60, 4, (e, v) => { storeRoute(g, e, v); });
  if (value.dns === undefined) g.storeU8(at + 24, 0); else { g.storeU8(at + 24, 1); storeDns(g, at + 24 + 4, value.dns); }
}

function storeArg(g: Guest, at: number, value: Arg): void {
  g.storeString(at, value.key);
  g.storeString(at + 8, value.value);
}

function storePod(g: Guest, at: number, value: Pod): void {
  g.storeString(at, value.namespace);
  g.storeString(at + 8, value.name);
  if (value.uid === undefined) g.storeU8(at + 16, 0); else { g.storeU8(at + 16, 1); g.storeString(at + 16 + 4, value.uid); }
}

function storeAttachment(g: Guest, at: number, value: Attachment): void {
  g.storeString(at, value.containerId);
  if (value.netns === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.netns); }
  g.storeString(at + 20, value.ifname);
  g.storeList(at + 28, value.args, 16, 4, (e, v) => { storeArg(g, e, v); });
  if (value.pod === undefined) g.storeU8(at + 36, 0); else { g.storeU8(at + 36, 1); storePod(g, at + 36 + 4, value.pod); }
}

function storeCall(g: Guest, at: number, value: Call): void {
  g.storeU32(at, value.remainingMs);
  g.storeList(at + 4, value.granted, 8, 4, (e, v) => { g.storeString(e, v); });
}

function storeNetwork(g: Guest, at: number, value: Network): void {
  g.storeString(at, value.cniVersion);
  g.storeString(at + 8, value.name);
  g.storeString(at + 16, value.config);
}

function storeAttachmentRequest(g: Guest, at: number, value: AttachmentRequest): void {
  storeCall(g, at, value.call);
  storeNetwork(g, at + 12, value.network);
  storeAttachment(g, at + 36, value.attachment);
  if (value.prevResult === undefined) g.storeU8(at + 104, 0); else { g.storeU8(at + 104, 1); storeSuccess(g, at + 104 + 4, value.prevResult); }
}

function loadAttachmentId(g: Guest, at: number): AttachmentId {
  return {
    containerId: g.loadString(at),
    ifname: g.loadString(at + 8),
  };
}

function storeAttachmentId(g: Guest, at: number, value: AttachmentId): void {
  g.storeString(at, value.containerId);
  g.storeString(at + 8, value.ifname);
}

function loadLeasesAddressRange(g: Guest, at: number): LeasesAddressRange {
  return {
    first: g.loadString(at),
    last: g.loadString(at + 8),
  };
}

function storeLeasesReservation(g: Guest, at: number, value: LeasesReservation): void {
  g.storeString(at, value.address);
  g.storeBool(at + 8, value.heldBefore);
}

const labelsOfLinksPlace = ["host","pod"] as const;

function liftLinksPlace(g: Guest, value: number): LinksPlace {
  return g.label(labelsOfLinksPlace, value);
}

function loadLinksPlace(g: Guest, at: number): LinksPlace {
  return g.label(labelsOfLinksPlace, g.discriminant(at, 1, 2));
}

function storeLinksPlace(g: Guest, at: number, value: LinksPlace): void {
  g.storeU8(at, labelsOfLinksPlace.indexOf(value));
}

function loadLinksLinkName(g: Guest, at: number): LinksLinkName {
  return {
    place: loadLinksPlace(g, at),
    name: g.loadString(at + 4),
  };
}

function loadLinksBridge(g: Guest, at: number): LinksBridge {
  return {
    name: g.loadString(at),
    mtu: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.u32(at + 8 + 4)),
    vlanFiltering: g.bool(at + 16),
    defaultPvid: (g.discriminant(at + 18, 1, 2) === 0 ? undefined : g.u16(at + 18 + 2)),
  };
}

function loadLinksVlanGateway(g: Guest, at: number): LinksVlanGateway {
  return {
    bridge: g.loadString(at),
    id: g.u16(at + 8),
    mtu: (g.discriminant(at + 12, 1, 2) === 0 ? undefined : g.u32(at + 12 + 4)),
    keepDefaultVlan: g.bool(at + 20),
  };
}

function loadLinksPort(g: Guest, at: number): LinksPort {
  return {
    hairpin: (g.discriminant(at, 1, 2) === 0 ? undefined : g.bool(at + 1)),
    isolated: (g.discriminant(at + 2, 1, 2) === 0 ? undefined : g.bool(at + 2 + 1)),
    learning: (g.discriminant(at + 4, 1, 2) === 0 ? undefined : g.bool(at + 4 + 1)),
    flood: (g.discriminant(at + 6, 1, 2) === 0 ? undefined : g.bool(at + 6 + 1)),
  };
}

function storeLinksPort(g: Guest, at: number, value: LinksPort): void {
  if (value.hairpin === undefined) g.storeU8(at, 0); else { g.storeU8(at, 1); g.storeBool(at + 1, value.hairpin); }
  if (value.isolated === undefined) g.storeU8(at + 2, 0); else { g.storeU8(at + 2, 1); g.storeBool(at + 2 + 1, value.isolated); }
  if (value.learning === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); g.storeBool(at + 4 + 1, value.learning); }
  if (value.flood === undefined) g.storeU8(at + 6, 0); else { g.storeU8(at + 6, 1); g.storeBool(at + 6 + 1, value.flood); }
}

function loadLinksPortVlan(g: Guest, at: number): LinksPortVlan {
  return {
    first: g.u16(at),
    last: g.u16(at + 2),
    pvid: g.bool(at + 4),
    untagged: g.bool(at + 5),
  };
}

function storeLinksPortVlan(g: Guest, at: number, value: LinksPortVlan): void {
  g.storeU16(at, value.first);
  g.storeU16(at + 2, value.last);
  g.storeBool(at + 4, value.pvid);
  g.storeBool(at + 5, value.untagged);
}

function loadLinksVeth(g: Guest, at: number): LinksVeth {
  return {
    name: g.loadString(at),
    hostName: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    mac: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.loadString(at + 20 + 4)),
    hostMac: (g.discriminant(at + 32, 1, 2) === 0 ? undefined : g.loadString(at + 32 + 4)),
    mtu: (g.discriminant(at + 44, 1, 2) === 0 ? undefined : g.u32(at + 44 + 4)),
    master: (g.discriminant(at + 52, 1, 2) === 0 ? undefined : g.loadString(at + 52 + 4)),
    port: (g.discriminant(at + 64, 1, 2) === 0 ? undefined : loadLinksPort(g, at + 64 + 1)),
    vlans: g.loadList(at + 76, 6, 2, loadLinksPortVlan),
    keepDefaultVlan: g.bool(at + 84),
    up: g.bool(at + 85),
  };
}

const labelsOfLinksMacvlanMode = ["bridge","private","vepa","passthru"] as const;

function loadLinksMacvlanMode(g: Guest, at: number): LinksMacvlanMode {
  return g.label(labelsOfLinksMacvlanMode, g.discriminant(at, 1, 4));
}

function loadLinksMacvlan(g: Guest, at: number): LinksMacvlan {
  return {
    name: g.loadString(at),
    parent: loadLinksLinkName(g, at + 8),
    mode: loadLinksMacvlanMode(g, at + 20),
    mac: (g.discriminant(at + 24, 1, 2) === 0 ? undefined : g.loadString(at + 24 + 4)),
    mtu: (g.discriminant(at + 36, 1, 2) === 0 ? undefined : g.u32(at + 36 + 4)),
    broadcastQueue: (g.discriminant(at + 44, 1, 2) === 0 ? undefined : g.u32(at + 44 + 4)),
  };
}

const labelsOfLinksIpvlanMode = ["l2","l3","l3s"] as const;

function loadLinksIpvlanMode(g: Guest, at: number): LinksIpvlanMode {
  return g.label(labelsOfLinksIpvlanMode, g.discriminant(at, 1, 3));
}

function loadLinksIpvlan(g: Guest, at: number): LinksIpvlan {
  return {
    name: g.loadString(at),
    parent: loadLinksLinkName(g, at + 8),
    mode: loadLinksIpvlanMode(g, at + 20),
    mtu: (g.discriminant(at + 24, 1, 2) === 0 ? undefined : g.u32(at + 24 + 4)),
  };
}

function loadLinksVlan(g: Guest, at: number): LinksVlan {
  return {
    name: g.loadString(at),
    parent: loadLinksLinkName(g, at + 8),
    id: g.u16(at + 20),
    mtu: (g.discriminant(at + 24, 1, 2) === 0 ? undefined : g.u32(at + 24 + 4)),
  };
}

function loadLinksDummy(g: Guest, at: number): LinksDummy {
  return {
    name: g.loadString(at),
    mac: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    mtu: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.u32(at + 20 + 4)),
  };
}

function loadLinksVrf(g: Guest, at: number): LinksVrf {
  return {
    name: g.loadString(at),
    table: g.u32(at + 8),
  };
}

function storeLinksVrf(g: Guest, at: number, value: LinksVrf): void {
  g.storeString(at, value.name);
  g.storeU32(at + 8, value.table);
}

function loadLinksTap(g: Guest, at: number): LinksTap {
  return {
    name: g.loadString(at),
    mac: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    mtu: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.u32(at + 20 + 4)),
    multiQueue: g.bool(at + 28),
    owner: (g.discriminant(at + 32, 1, 2) === 0 ? undefined : g.u32(at + 32 + 4)),
    group: (g.discriminant(at + 40, 1, 2) === 0 ? undefined : g.u32(at + 40 + 4)),
    selinuxContext: (g.discriminant(at + 48, 1, 2) === 0 ? undefined : g.loadString(at + 48 + 4)),
  };
}

const labelsOfLinksBondMode = ["balance-rr","active-backup","balance-xor","broadcast","ieee8023ad","balance-tlb","balance-alb"] as const;

function loadLinksBondMode(g: Guest, at: number): LinksBondMode {
  return g.label(labelsOfLinksBondMode, g.discriminant(at, 1, 7));
}

const labelsOfLinksTransmitHash = ["layer2","layer34","layer23","encap23","encap34","vlan-source-mac"] as const;

function loadLinksTransmitHash(g: Guest, at: number): LinksTransmitHash {
  return g.label(labelsOfLinksTransmitHash, g.discriminant(at, 1, 6));
}

function loadLinksBond(g: Guest, at: number): LinksBond {
  return {
    name: g.loadString(at),
    mode: loadLinksBondMode(g, at + 8),
    mac: (g.discriminant(at + 12, 1, 2) === 0 ? undefined : g.loadString(at + 12 + 4)),
    mtu: (g.discriminant(at + 24, 1, 2) === 0 ? undefined : g.u32(at + 24 + 4)),
    monitorInterval: (g.discriminant(at + 32, 1, 2) === 0 ? undefined : g.u32(at + 32 + 4)),
    failOverMac: (g.discriminant(at + 40, 1, 2) === 0 ? undefined : g.u8(at + 40 + 1)),
    allMembersActive: (g.discriminant(at + 42, 1, 2) === 0 ? undefined : g.bool(at + 42 + 1)),
    dynamicBalancing: (g.discriminant(at + 44, 1, 2) === 0 ? undefined : g.bool(at + 44 + 1)),
    transmitHash: (g.discriminant(at + 46, 1, 2) === 0 ? undefined : loadLinksTransmitHash(g, at + 46 + 1)),
  };
}

function loadLinksDeviceSelector(g: Guest, at: number): LinksDeviceSelector {
  return {
    name: (g.discriminant(at, 1, 2) === 0 ? undefined : g.loadString(at + 4)),
    mac: (g.discriminant(at + 12, 1, 2) === 0 ? undefined : g.loadString(at + 12 + 4)),
    deviceId: (g.discriminant(at + 24, 1, 2) === 0 ? undefined : g.loadString(at + 24 + 4)),
    kernelPath: (g.discriminant(at + 36, 1, 2) === 0 ? undefined : g.loadString(at + 36 + 4)),
  };
}

function loadLinksTaking(g: Guest, at: number): LinksTaking {
  return {
    device: loadLinksDeviceSelector(g, at),
    name: g.loadString(at + 48),
    keepAddresses: g.bool(at + 56),
  };
}

const labelsOfLinksVfLinkState = ["auto","enable","disable"] as const;

function loadLinksVfLinkState(g: Guest, at: number): LinksVfLinkState {
  return g.label(labelsOfLinksVfLinkState, g.discriminant(at, 1, 3));
}

function loadLinksVfSettings(g: Guest, at: number): LinksVfSettings {
  return {
    pciAddress: g.loadString(at),
    mac: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    vlan: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.u16(at + 20 + 2)),
    vlanQos: (g.discriminant(at + 24, 1, 2) === 0 ? undefined : g.u8(at + 24 + 1)),
    vlanServiceTag: g.bool(at + 26),
    minRate: (g.discriminant(at + 28, 1, 2) === 0 ? undefined : g.u32(at + 28 + 4)),
    maxRate: (g.discriminant(at + 36, 1, 2) === 0 ? undefined : g.u32(at + 36 + 4)),
    spoofCheck: (g.discriminant(at + 44, 1, 2) === 0 ? undefined : g.bool(at + 44 + 1)),
    trust: (g.discriminant(at + 46, 1, 2) === 0 ? undefined : g.bool(at + 46 + 1)),
    linkState: (g.discriminant(at + 48, 1, 2) === 0 ? undefined : loadLinksVfLinkState(g, at + 48 + 1)),
  };
}

function loadLinksChange(g: Guest, at: number): LinksChange {
  return {
    link: loadLinksLinkName(g, at),
    up: (g.discriminant(at + 12, 1, 2) === 0 ? undefined : g.bool(at + 12 + 1)),
    mac: (g.discriminant(at + 16, 1, 2) === 0 ? undefined : g.loadString(at + 16 + 4)),
    mtu: (g.discriminant(at + 28, 1, 2) === 0 ? undefined : g.u32(at + 28 + 4)),
    promiscuous: (g.discriminant(at + 36, 1, 2) === 0 ? undefined : g.bool(at + 36 + 1)),
    allMulticast: (g.discriminant(at + 38, 1, 2) === 0 ? undefined : g.bool(at + 38 + 1)),
    txQueueLength: (g.discriminant(at + 40, 1, 2) === 0 ? undefined : g.u32(at + 40 + 4)),
    master: (g.discriminant(at + 48, 1, 2) === 0 ? undefined : g.loadString(at + 48 + 4)),
    alternativeNames: g.loadList(at + 60, 8, 4, (_, e) => g.loadString(e)),
  };
}

function loadLinksPortChange(g: Guest, at: number): LinksPortChange {
  return {
    link: g.loadString(at),
    port: loadLinksPort(g, at + 8),
  };
}

function loadLinksPortVlanChange(g: Guest, at: number): LinksPortVlanChange {
  return {
    link: g.loadString(at),
    vlan: loadLinksPortVlan(g, at + 8),
  };
}

function loadLinksAddressChange(g: Guest, at: number): LinksAddressChange {
  return {
    link: loadLinksLinkName(g, at),
    address: g.loadString(at + 12),
    noDad: g.bool(at + 20),
  };
}

function loadLinksAddressWish(g: Guest, at: number): LinksAddressWish {
  return {
    link: loadLinksLinkName(g, at),
    address: g.loadString(at + 12),
    replace: g.bool(at + 20),
  };
}

function loadLinksRouteChange(g: Guest, at: number): LinksRouteChange {
  return {
    link: (g.discriminant(at, 1, 2) === 0 ? undefined : loadLinksLinkName(g, at + 4)),
    place: loadLinksPlace(g, at + 16),
    route: loadRoute(g, at + 20),
    onLink: g.bool(at + 80),
    source: (g.discriminant(at + 84, 1, 2) === 0 ? undefined : g.loadString(at + 84 + 4)),
  };
}

function loadLinksNeighbour(g: Guest, at: number): LinksNeighbour {
  return {
    address: g.loadString(at),
    mac: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    proxy: g.bool(at + 20),
  };
}

function storeLinksNeighbour(g: Guest, at: number, value: LinksNeighbour): void {
  g.storeString(at, value.address);
  if (value.mac === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.mac); }
  g.storeBool(at + 20, value.proxy);
}

function loadLinksNeighbourChange(g: Guest, at: number): LinksNeighbourChange {
  return {
    link: loadLinksLinkName(g, at),
    neighbour: loadLinksNeighbour(g, at + 12),
  };
}

const labelsOfLinksFamily = ["ipv4","ipv6"] as const;

function loadLinksFamily(g: Guest, at: number): LinksFamily {
  return g.label(labelsOfLinksFamily, g.discriminant(at, 1, 2));
}

function storeLinksFamily(g: Guest, at: number, value: LinksFamily): void {
  g.storeU8(at, labelsOfLinksFamily.indexOf(value));
}

function loadLinksInterfaceSetting(g: Guest, at: number): LinksInterfaceSetting {
  return {
    link: loadLinksLinkName(g, at),
    family: loadLinksFamily(g, at + 12),
    name: g.loadString(at + 16),
    value: g.loadString(at + 24),
    required: g.bool(at + 32),
  };
}

function loadLinksSettling(g: Guest, at: number): LinksSettling {
  return {
    link: loadLinksLinkName(g, at),
    milliseconds: g.u32(at + 12),
  };
}

function loadLinksOperation(g: Guest, at: number): LinksOperation {
  switch (g.discriminant(at, 1, 28)) {
    case 0: return { tag: "ensure-bridge", val: loadLinksBridge(g, at + 4) };
    case 1: return { tag: "ensure-vlan-gateway", val: loadLinksVlanGateway(g, at + 4) };
    case 2: return { tag: "add-veth", val: loadLinksVeth(g, at + 4) };
    case 3: return { tag: "add-macvlan", val: loadLinksMacvlan(g, at + 4) };
    case 4: return { tag: "add-ipvlan", val: loadLinksIpvlan(g, at + 4) };
    case 5: return { tag: "add-vlan", val: loadLinksVlan(g, at + 4) };
    case 6: return { tag: "add-dummy", val: loadLinksDummy(g, at + 4) };
    case 7: return { tag: "add-vrf", val: loadLinksVrf(g, at + 4) };
    case 8: return { tag: "add-tap", val: loadLinksTap(g, at + 4) };
    case 9: return { tag: "add-bond", val: loadLinksBond(g, at + 4) };
    case 10: return { tag: "take-device", val: loadLinksTaking(g, at + 4) };
    case 11: return { tag: "give-back", val: g.loadString(at + 4) };
    case 12: return { tag: "set-vf", val: loadLinksVfSettings(g, at + 4) };
    case 13: return { tag: "delete-link", val: loadLinksLinkName(g, at + 4) };
    case 14: return { tag: "change-link", val: loadLinksChange(g, at + 4) };
    case 15: return { tag: "change-port", val: loadLinksPortChange(g, at + 4) };
    case 16: return { tag: "add-port-vlan", val: loadLinksPortVlanChange(g, at + 4) };
    case 17: return { tag: "delete-port-vlan", val: loadLinksPortVlanChange(g, at + 4) };
    case 18: return { tag: "add-address", val: loadLinksAddressChange(g, at + 4) };
    case 19: return { tag: "ensure-address", val: loadLinksAddressWish(g, at + 4) };
    case 20: return { tag: "delete-address", val: loadLinksAddressChange(g, at + 4) };
    case 21: return { tag: "add-route", val: loadLinksRouteChange(g, at + 4) };
    case 22: return { tag: "delete-route", val: loadLinksRouteChange(g, at + 4) };
    case 23: return { tag: "add-neighbour", val: loadLinksNeighbourChange(g, at + 4) };
    case 24: return { tag: "delete-neighbour", val: loadLinksNeighbourChange(g, at + 4) };
    case 25: return { tag: "set-interface", val: loadLinksInterfaceSetting(g, at + 4) };
    case 26: return { tag: "enable-forwarding", val: loadLinksFamily(g, at + 4) };
    case 27: return { tag: "settle", val: loadLinksSettling(g, at + 4) };
    default: throw new Error("unreachable: the discriminant was checked");
  }
}

function storeLinksAddress(g: Guest, at: number, value: LinksAddress): void {
  g.storeString(at, value.address);
  g.storeBool(at + 8, value.tentative);
  g.storeBool(at + 9, value.dadFailed);
}

function storeLinksDeviceFacts(g: Guest, at: number, value: LinksDeviceFacts): void {
  if (value.driver === undefined) g.storeU8(at, 0); else { g.storeU8(at, 1); g.storeString(at + 4, value.driver); }
  if (value.pciAddress === undefined) g.storeU8(at + 12, 0); else { g.storeU8(at + 12, 1); g.storeString(at + 12 + 4, value.pciAddress); }
  if (value.speed === undefined) g.storeU8(at + 24, 0); else { g.storeU8(at + 24, 1); g.storeU32(at + 24 + 4, value.speed); }
  if (value.numaNode === undefined) g.storeU8(at + 32, 0); else { g.storeU8(at + 32, 1); g.storeU32(at + 32 + 4, value.numaNode); }
  if (value.physicalFunction === undefined) g.storeU8(at + 40, 0); else { g.storeU8(at + 40, 1); g.storeString(at + 40 + 4, value.physicalFunction); }
  g.storeList(at + 52, value.rdmaDevices, 8, 4, (e, v) => { g.storeString(e, v); });
}

function storeLinksLink(g: Guest, at: number, value: LinksLink): void {
  storeLinksPlace(g, at, value.place);
  g.storeString(at + 4, value.name);
  g.storeU32(at + 12, value.index);
  g.storeString(at + 16, value.kind);
  if (value.mac === undefined) g.storeU8(at + 24, 0); else { g.storeU8(at + 24, 1); g.storeString(at + 24 + 4, value.mac); }
  g.storeU32(at + 36, value.mtu);
  g.storeBool(at + 40, value.up);
  g.storeBool(at + 41, value.running);
  g.storeBool(at + 42, value.promiscuous);
  g.storeBool(at + 43, value.allMulticast);
  g.storeU32(at + 44, value.txQueueLength);
  g.storeList(at + 48, value.alternativeNames, 8, 4, (e, v) => { g.storeString(e, v); });
  if (value.master === undefined) g.storeU8(at + 56, 0); else { g.storeU8(at + 56, 1); g.storeString(at + 56 + 4, value.master); }
  if (value.peer === undefined) g.storeU8(at + 68, 0); else { g.storeU8(at + 68, 1); g.storeString(at + 68 + 4, value.peer); }
  if (value.parent === undefined) g.storeU8(at + 80, 0); else { g.storeU8(at + 80, 1); g.storeString(at + 80 + 4, value.parent); }
  if (value.mode === undefined) g.storeU8(at + 92, 0); else { g.storeU8(at + 92, 1); g.storeString(at + 92 + 4, value.mode); }
  if (value.vlanId === undefined) g.storeU8(at + 104, 0); else { g.storeU8(at + 104, 1); g.storeU16(at + 104 + 2, value.vlanId); }
  if (value.vlanFiltering === undefined) g.storeU8(at + 108, 0); else { g.storeU8(at + 108, 1); g.storeBool(at + 108 + 1, value.vlanFiltering); }
  if (value.port === undefined) g.storeU8(at + 110, 0); else { g.storeU8(at + 110, 1); storeLinksPort(g, at + 110 + 1, value.port); }
  g.storeList(at + 120, value.portVlans, 6, 2, (e, v) => { storeLinksPortVlan(g, e, v); });
  g.storeList(at + 128, value.addresses, 12, 4, (e, v) => { storeLinksAddress(g, e, v); });
  g.storeList(at + 136, value.members, 8, 4, (e, v) => { g.storeString(e, v); });
  g.storeBool(at + 144, value.carrier);
  if (value.peerIndex === undefined) g.storeU8(at + 148, 0); else { g.storeU8(at + 148, 1); g.storeU32(at + 148 + 4, value.peerIndex); }
  if (value.device === undefined) g.storeU8(at + 156, 0); else { g.storeU8(at + 156, 1); storeLinksDeviceFacts(g, at + 156 + 4, value.device); }
}

function storeLinksDevice(g: Guest, at: number, value: LinksDevice): void {
  if (value.link === undefined) g.storeU8(at, 0); else { g.storeU8(at, 1); g.storeString(at + 4, value.link); }
  if (value.mac === undefined) g.storeU8(at + 12, 0); else { g.storeU8(at + 12, 1); g.storeString(at + 12 + 4, value.mac); }
  storeLinksDeviceFacts(g, at + 24, value.facts);
}

function storeLinksInstalledRoute(g: Guest, at: number, value: LinksInstalledRoute): void {
  g.storeString(at, value.dst);
  if (value.gw === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.gw); }
  if (value.mtu === undefined) g.storeU8(at + 20, 0); else { g.storeU8(at + 20, 1); g.storeU32(at + 20 + 4, value.mtu); }
  if (value.advmss === undefined) g.storeU8(at + 28, 0); else { g.storeU8(at + 28, 1); g.storeU32(at + 28 + 4, value.advmss); }
  if (value.priority === undefined) g.storeU8(at + 36, 0); else { g.storeU8(at + 36, 1); g.storeU32(at + 36 + 4, value.priority); }
  if (value.table === undefined) g.storeU8(at + 44, 0); else { g.storeU8(at + 44, 1); g.storeU32(at + 44 + 4, value.table); }
  if (value.scope === undefined) g.storeU8(at + 52, 0); else { g.storeU8(at + 52, 1); g.storeU32(at + 52 + 4, value.scope); }
  if (value.link === undefined) g.storeU8(at + 60, 0); else { g.storeU8(at + 60, 1); g.storeString(at + 60 + 4, value.link); }
  if (value.source === undefined) g.storeU8(at + 72, 0); else { g.storeU8(at + 72, 1); g.storeString(at + 72 + 4, value.source); }
}

function loadSysctlSetting(g: Guest, at: number): SysctlSetting {
  return {
    key: g.loadString(at),
    value: g.loadString(at + 8),
  };
}

const labelsOfFirewallProtocol = ["tcp","udp","sctp"] as const;

function loadFirewallProtocol(g: Guest, at: number): FirewallProtocol {
  return g.label(labelsOfFirewallProtocol, g.discriminant(at, 1, 3));
}

function loadFirewallMasquerade(g: Guest, at: number): FirewallMasquerade {
  return {
    address: g.loadString(at),
  };
}

const labelsOfFirewallMasquerading = ["none","local","all"] as const;

function loadFirewallMasquerading(g: Guest, at: number): FirewallMasquerading {
  return g.label(labelsOfFirewallMasquerading, g.discriminant(at, 1, 3));
}

function loadFirewallPortMapping(g: Guest, at: number): FirewallPortMapping {
  return {
    protocol: loadFirewallProtocol(g, at),
    hostAddress: (g.discriminant(at + 4, 1, 2) === 0 ? undefined : g.loadString(at + 4 + 4)),
    hostPort: g.u16(at + 16),
    podAddress: g.loadString(at + 20),
    podPort: g.u16(at + 28),
    masquerading: loadFirewallMasquerading(g, at + 30),
  };
}

const labelsOfFirewallSide = ["source","destination"] as const;

function loadFirewallSide(g: Guest, at: number): FirewallSide {
  return g.label(labelsOfFirewallSide, g.discriminant(at, 1, 2));
}

function loadFirewallCondition(g: Guest, at: number): FirewallCondition {
  return {
    side: loadFirewallSide(g, at),
    negated: g.bool(at + 1),
    network: g.loadString(at + 4),
  };
}

function storeAnnounceConflict(g: Guest, at: number, value: AnnounceConflict): void {
  g.storeString(at, value.address);
  g.storeString(at + 8, value.mac);
}

function loadOvsVlanRange(g: Guest, at: number): OvsVlanRange {
  return {
    first: g.u16(at),
    last: g.u16(at + 2),
  };
}

function storeOvsVlanRange(g: Guest, at: number, value: OvsVlanRange): void {
  g.storeU16(at, value.first);
  g.storeU16(at + 2, value.last);
}

function storeOvsPortState(g: Guest, at: number, value: OvsPortState): void {
  g.storeString(at, value.bridge);
  g.storeString(at + 8, value.link);
  g.storeString(at + 16, value.interfaceId);
  g.storeString(at + 24, value.mac);
  if (value.number === undefined) g.storeU8(at + 32, 0); else { g.storeU8(at + 32, 1); g.storeU32(at + 32 + 4, value.number); }
  if (value.error === undefined) g.storeU8(at + 40, 0); else { g.storeU8(at + 40, 1); g.storeString(at + 40 + 4, value.error); }
  g.storeBool(at + 52, value.linkUp);
  g.storeBool(at + 53, value.installed);
  if (value.tag === undefined) g.storeU8(at + 54, 0); else { g.storeU8(at + 54, 1); g.storeU16(at + 54 + 2, value.tag); }
  g.storeList(at + 60, value.trunks, 4, 2, (e, v) => { storeOvsVlanRange(g, e, v); });
}

function loadRoutingMark(g: Guest, at: number): RoutingMark {
  return {
    value: g.u32(at),
    mask: g.u32(at + 4),
  };
}

function storeRoutingMark(g: Guest, at: number, value: RoutingMark): void {
  g.storeU32(at, value.value);
  g.storeU32(at + 4, value.mask);
}

function loadRoutingRule(g: Guest, at: number): RoutingRule {
  return {
    family: loadLinksFamily(g, at),
    priority: (g.discriminant(at + 4, 1, 2) === 0 ? undefined : g.u32(at + 4 + 4)),
    source: (g.discriminant(at + 12, 1, 2) === 0 ? undefined : g.loadString(at + 12 + 4)),
    destination: (g.discriminant(at + 24, 1, 2) === 0 ? undefined : g.loadString(at + 24 + 4)),
    incomingLink: (g.discriminant(at + 36, 1, 2) === 0 ? undefined : g.loadString(at + 36 + 4)),
    outgoingLink: (g.discriminant(at + 48, 1, 2) === 0 ? undefined : g.loadString(at + 48 + 4)),
    mark: (g.discriminant(at + 60, 1, 2) === 0 ? undefined : loadRoutingMark(g, at + 60 + 4)),
    table: g.u32(at + 72),
  };
}

function storeRoutingRule(g: Guest, at: number, value: RoutingRule): void {
  storeLinksFamily(g, at, value.family);
  if (value.priority === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); g.storeU32(at + 4 + 4, value.priority); }
  if (value.source === undefined) g.storeU8(at + 12, 0); else { g.storeU8(at + 12, 1); g.storeString(at + 12 + 4, value.source); }
  if (value.destination === undefined) g.storeU8(at + 24, 0); else { g.storeU8(at + 24, 1); g.storeString(at + 24 + 4, value.destination); }
  if (value.incomingLink === undefined) g.storeU8(at + 36, 0); else { g.storeU8(at + 36, 1); g.storeString(at + 36 + 4, value.incomingLink); }
  if (value.outgoingLink === undefined) g.storeU8(at + 48, 0); else { g.storeU8(at + 48, 1); g.storeString(at + 48 + 4, value.outgoingLink); }
  if (value.mark === undefined) g.storeU8(at + 60, 0); else { g.storeU8(at + 60, 1); storeRoutingMark(g, at + 60 + 4, value.mark); }
  g.storeU32(at + 72, value.table);
}

function storeShapingDevice(g: Guest, at: number, value: ShapingDevice): void {
  g.storeString(at, value.name);
  g.storeString(at + 8, value.mac);
}

function storeShapingCounters(g: Guest, at: number, value: ShapingCounters): void {
  g.storeU64(at, value.bytes);
  g.storeU64(at + 8, value.packets);
  g.storeU64(at + 16, value.drops);
}

function storeShapingTraffic(g: Guest, at: number, value: ShapingTraffic): void {
  if (value.ingress === undefined) g.storeU8(at, 0); else { g.storeU8(at, 1); storeShapingCounters(g, at + 8, value.ingress); }
  if (value.egress === undefined) g.storeU8(at + 32, 0); else { g.storeU8(at + 32, 1); storeShapingCounters(g, at + 32 + 8, value.egress); }
}

const labelsOfFilterIngressPolicy = ["open","same-bridge","isolated"] as const;

function liftFilterIngressPolicy(g: Guest, value: number): FilterIngressPolicy {
  return g.label(labelsOfFilterIngressPolicy, value);
}

function loadDhcpOptionValue(g: Guest, at: number): DhcpOptionValue {
  return {
    number: g.u8(at),
    value: g.loadList(at + 4, 1, 1, (_, e) => g.u8(e)),
  };
}

function storeDhcpOptionValue(g: Guest, at: number, value: DhcpOptionValue): void {
  g.storeU8(at, value.number);
  g.storeList(at + 4, value.value, 1, 1, (e, v) => { g.storeU8(e, v); });
}

function storeDhcpLease(g: Guest, at: number, value: DhcpLease): void {
  g.storeString(at, value.address);
  if (value.gateway === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.gateway); }
  g.storeList(at + 20, value.routes, 60, 4, (e, v) => { storeRoute(g, e, v); });
  storeDns(g, at + 28, value.dns);
  if (value.mtu === undefined) g.storeU8(at + 64, 0); else { g.storeU8(at + 64, 1); g.storeU32(at + 64 + 4, value.mtu); }
  g.storeList(at + 72, value.options, 12, 4, (e, v) => { storeDhcpOptionValue(g, e, v); });
}

const labelsOfFlowsProtocol = ["tcp","udp","sctp"] as const;

function loadFlowsProtocol(g: Guest, at: number): FlowsProtocol {
  return g.label(labelsOfFlowsProtocol, g.discriminant(at, 1, 3));
}

function loadFlowsPort(g: Guest, at: number): FlowsPort {
  return {
    protocol: loadFlowsProtocol(g, at),
    number: g.u16(at + 2),
  };
}

/** Glue of the functions that a delegate may import, by interface and function. */
export const imports: Readonly<Record<string, Readonly<Record<string, ImportGlue>>>> = {
  "log": {
    "write": {
      host: "write",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number) => [liftLogLevel(g, p0), g.liftString(p1, p2)],
    },
  },
  "leases": {
    "reserve": {
      host: "reserve",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number, p8: number, p9: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, g.liftString(p4, p5), { containerId: g.liftString(p6, p7), ifname: g.liftString(p8, p9) }],
      lower(g: Guest, value: Outcome<boolean, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeBool(at + 4, value.ok); }
      },
    },
    "reserve-next": {
      host: "reserveNext",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number, p8: number, p9: number, p10: number, p11: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, g.liftList(p4, p5, 16, 4, loadLeasesAddressRange), g.liftList(p6, p7, 8, 4, (_, e) => g.loadString(e)), { containerId: g.liftString(p8, p9), ifname: g.liftString(p10, p11) }],
      lower(g: Guest, value: Outcome<LeasesReservation | undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); storeLeasesReservation(g, at + 4 + 4, value.ok); } }
      },
    },
    "held": {
      host: "held",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, { containerId: g.liftString(p4, p5), ifname: g.liftString(p6, p7) }],
      lower(g: Guest, value: Outcome<readonly string[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 8, 4, (e, v) => { g.storeString(e, v); }); }
      },
    },
    "release": {
      host: "release",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, { containerId: g.liftString(p4, p5), ifname: g.liftString(p6, p7) }],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "retain": {
      host: "retain",
      core: "i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, g.liftList(p4, p5, 16, 4, loadAttachmentId)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "count": {
      host: "count",
      core: "i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, g.liftList(p4, p5, 16, 4, loadLeasesAddressRange), g.liftU32(p6)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "probe": {
      host: "probe",
      core: "i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
  },
  "resolver": {
    "read": {
      host: "read",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftString(p0, p1)],
      lower(g: Guest, value: Outcome<Dns, Fault>, at: number): void {
        g.range(at, 40, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); storeDns(g, at + 4, value.ok); }
      },
    },
  },
  "links": {
    "apply": {
      host: "apply",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 100, 4, loadLinksOperation)],
      lower(g: Guest, value: Outcome<readonly LinksLink[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 220, 4, (e, v) => { storeLinksLink(g, e, v); }); }
      },
    },
    "read": {
      host: "read",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 12, 4, loadLinksLinkName)],
      lower(g: Guest, value: Outcome<readonly LinksLink[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 220, 4, (e, v) => { storeLinksLink(g, e, v); }); }
      },
    },
    "routes": {
      host: "routes",
      core: "i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number) => [(g.liftCase(p0, 2) === 0 ? undefined : { place: liftLinksPlace(g, p1), name: g.liftString(p2, p3) })],
      lower(g: Guest, value: Outcome<readonly LinksInstalledRoute[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 84, 4, (e, v) => { storeLinksInstalledRoute(g, e, v); }); }
      },
    },
    "vrfs": {
      host: "vrfs",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<readonly LinksVrf[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 12, 4, (e, v) => { storeLinksVrf(g, e, v); }); }
      },
    },
    "default-link": {
      host: "defaultLink",
      core: "i32,i32>",
      lift: (g: Guest, p0: number) => [liftLinksPlace(g, p0)],
      lower(g: Guest, value: Outcome<string | undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); g.storeString(at + 4 + 4, value.ok); } }
      },
    },
    "find-device": {
      host: "findDevice",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number, p8: number, p9: number, p10: number, p11: number) => [{ name: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), mac: (g.liftCase(p3, 2) === 0 ? undefined : g.liftString(p4, p5)), deviceId: (g.liftCase(p6, 2) === 0 ? undefined : g.liftString(p7, p8)), kernelPath: (g.liftCase(p9, 2) === 0 ? undefined : g.liftString(p10, p11)) }],
      lower(g: Guest, value: Outcome<LinksDevice | undefined, Fault>, at: number): void {
        g.range(at, 92, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); storeLinksDevice(g, at + 4 + 4, value.ok); } }
      },
    },
    "retain-devices": {
      host: "retainDevices",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 16, 4, loadAttachmentId)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "neighbours": {
      host: "neighbours",
      core: "i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number) => [{ place: liftLinksPlace(g, p0), name: g.liftString(p1, p2) }],
      lower(g: Guest, value: Outcome<readonly LinksNeighbour[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 24, 4, (e, v) => { storeLinksNeighbour(g, e, v); }); }
      },
    },
  },
  "sysctl": {
    "read": {
      host: "read",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 8, 4, (_, e) => g.loadString(e))],
      lower(g: Guest, value: Outcome<readonly string[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 8, 4, (e, v) => { g.storeString(e, v); }); }
      },
    },
    "write": {
      host: "write",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 16, 4, loadSysctlSetting)],
      lower(g: Guest, value: Outcome<readonly string[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 8, 4, (e, v) => { g.storeString(e, v); }); }
      },
    },
  },
  "firewall": {
    "replace": {
      host: "replace",
      core: "i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number) => [{ masquerades: g.liftList(p0, p1, 8, 4, loadFirewallMasquerade), portMappings: g.liftList(p2, p3, 32, 4, loadFirewallPortMapping) }],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "check": {
      host: "check",
      core: "i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number) => [{ masquerades: g.liftList(p0, p1, 8, 4, loadFirewallMasquerade), portMappings: g.liftList(p2, p3, 32, 4, loadFirewallPortMapping) }],
      lower(g: Guest, value: Outcome<boolean, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeBool(at + 4, value.ok); }
      },
    },
    "replace-restricted": {
      host: "replaceRestricted",
      core: "i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number) => [{ masquerades: g.liftList(p0, p1, 8, 4, loadFirewallMasquerade), portMappings: g.liftList(p2, p3, 32, 4, loadFirewallPortMapping) }, g.liftList(p4, p5, 12, 4, loadFirewallCondition)],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "check-restricted": {
      host: "checkRestricted",
      core: "i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number) => [{ masquerades: g.liftList(p0, p1, 8, 4, loadFirewallMasquerade), portMappings: g.liftList(p2, p3, 32, 4, loadFirewallPortMapping) }, g.liftList(p4, p5, 12, 4, loadFirewallCondition)],
      lower(g: Guest, value: Outcome<boolean, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeBool(at + 4, value.ok); }
      },
    },
    "guard-frames": {
      host: "guardFrames",
      core: "i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number) => [g.liftString(p0, p1), g.liftString(p2, p3)],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "frames-guarded": {
      host: "framesGuarded",
      core: "i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number) => [g.liftString(p0, p1), g.liftString(p2, p3)],
      lower(g: Guest, value: Outcome<boolean, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeBool(at + 4, value.ok); }
      },
    },
    "remove": {
      host: "remove",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "retain": {
      host: "retain",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 16, 4, loadAttachmentId)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "probe": {
      host: "probe",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
  },
  "announce": {
    "send": {
      host: "send",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 8, 4, (_, e) => g.loadString(e))],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "probe": {
      host: "probe",
      core: "i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number) => [g.liftList(p0, p1, 8, 4, (_, e) => g.loadString(e)), g.liftU32(p2), g.liftU32(p3)],
      lower(g: Guest, value: Outcome<readonly AnnounceConflict[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 16, 4, (e, v) => { storeAnnounceConflict(g, e, v); }); }
      },
    },
  },
  "delegation": {
    "add": {
      host: "add",
      core: "i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number) => [g.liftString(p0, p1), (g.liftCase(p2, 2) === 0 ? undefined : g.liftString(p3, p4))],
      lower(g: Guest, value: Outcome<Success, Fault>, at: number): void {
        g.range(at, 68, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); storeSuccess(g, at + 4, value.ok); }
      },
    },
    "del": {
      host: "del",
      core: "i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number) => [g.liftString(p0, p1), (g.liftCase(p2, 2) === 0 ? undefined : g.liftString(p3, p4))],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "check": {
      host: "check",
      core: "i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number) => [g.liftString(p0, p1), (g.liftCase(p2, 2) === 0 ? undefined : g.liftString(p3, p4))],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "gc": {
      host: "gc",
      core: "i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number) => [g.liftString(p0, p1), (g.liftCase(p2, 2) === 0 ? undefined : g.liftString(p3, p4))],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "status": {
      host: "status",
      core: "i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number) => [g.liftString(p0, p1), (g.liftCase(p2, 2) === 0 ? undefined : g.liftString(p3, p4))],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
  },
  "state": {
    "load": {
      host: "load",
      core: "i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number) => [(g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2))],
      lower(g: Guest, value: Outcome<string | undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); g.storeString(at + 4 + 4, value.ok); } }
      },
    },
    "save": {
      host: "save",
      core: "i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number) => [(g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), g.liftString(p3, p4)],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "remove": {
      host: "remove",
      core: "i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number) => [(g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2))],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
  },
  "ovs": {
    "add-port": {
      host: "addPort",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number, p8: number, p9: number, p10: number, p11: number, p12: number, p13: number, p14: number) => [{ bridge: g.liftString(p0, p1), link: g.liftString(p2, p3), interfaceId: g.liftString(p4, p5), mac: g.liftString(p6, p7), tag: (g.liftCase(p8, 2) === 0 ? undefined : g.liftU16(p9)), trunks: (g.liftCase(p10, 2) === 0 ? undefined : g.liftList(p11, p12, 4, 2, loadOvsVlanRange)), number: (g.liftCase(p13, 2) === 0 ? undefined : g.liftU32(p14)) }],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "settle": {
      host: "settle",
      core: "i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number) => [g.liftString(p0, p1), g.liftU32(p2)],
      lower(g: Guest, value: Outcome<OvsPortState, Fault>, at: number): void {
        g.range(at, 72, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); storeOvsPortState(g, at + 4, value.ok); }
      },
    },
    "port": {
      host: "port",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftString(p0, p1)],
      lower(g: Guest, value: Outcome<OvsPortState | undefined, Fault>, at: number): void {
        g.range(at, 76, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); storeOvsPortState(g, at + 4 + 4, value.ok); } }
      },
    },
    "ports": {
      host: "ports",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<readonly OvsPortState[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 68, 4, (e, v) => { storeOvsPortState(g, e, v); }); }
      },
    },
    "remove-port": {
      host: "removePort",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftString(p0, p1)],
      lower(g: Guest, value: Outcome<boolean, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeBool(at + 4, value.ok); }
      },
    },
    "remove-ports": {
      host: "removePorts",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "retain": {
      host: "retain",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 16, 4, loadAttachmentId)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "probe": {
      host: "probe",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
  },
  "routing": {
    "add-rules": {
      host: "addRules",
      core: "i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number) => [liftLinksPlace(g, p0), g.liftList(p1, p2, 76, 4, loadRoutingRule)],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "delete-rules": {
      host: "deleteRules",
      core: "i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number) => [liftLinksPlace(g, p0), g.liftList(p1, p2, 76, 4, loadRoutingRule)],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "list-rules": {
      host: "listRules",
      core: "i32,i32>",
      lift: (g: Guest, p0: number) => [liftLinksPlace(g, p0)],
      lower(g: Guest, value: Outcome<readonly RoutingRule[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 76, 4, (e, v) => { storeRoutingRule(g, e, v); }); }
      },
    },
    "routes": {
      host: "routes",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [liftLinksPlace(g, p0), g.liftU32(p1)],
      lower(g: Guest, value: Outcome<readonly LinksInstalledRoute[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 84, 4, (e, v) => { storeLinksInstalledRoute(g, e, v); }); }
      },
    },
    "free-tables": {
      host: "freeTables",
      core: "i32,i32>",
      lift: (g: Guest, p0: number) => [g.liftU32(p0)],
      lower(g: Guest, value: Outcome<readonly number[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 4, 4, (e, v) => { g.storeU32(e, v); }); }
      },
    },
  },
  "shaping": {
    "node-link": {
      host: "nodeLink",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<string | undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); g.storeString(at + 4 + 4, value.ok); } }
      },
    },
    "replace": {
      host: "replace",
      core: "i32,i64,i64,i32,i32,i64,i64,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: bigint, p2: bigint, p3: number, p4: number, p5: bigint, p6: bigint, p7: number, p8: number, p9: number, p10: number, p11: number) => [{ ingress: (g.liftCase(p0, 2) === 0 ? undefined : { rate: g.liftU64(p1), burst: g.liftU64(p2), latency: g.liftU32(p3) }), egress: (g.liftCase(p4, 2) === 0 ? undefined : { rate: g.liftU64(p5), burst: g.liftU64(p6), latency: g.liftU32(p7) }), networks: g.liftList(p8, p9, 8, 4, (_, e) => g.loadString(e)), exempt: g.liftList(p10, p11, 8, 4, (_, e) => g.loadString(e)) }],
      lower(g: Guest, value: Outcome<ShapingDevice | undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); storeShapingDevice(g, at + 4 + 4, value.ok); } }
      },
    },
    "difference": {
      host: "difference",
      core: "i32,i64,i64,i32,i32,i64,i64,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: bigint, p2: bigint, p3: number, p4: number, p5: bigint, p6: bigint, p7: number, p8: number, p9: number, p10: number, p11: number) => [{ ingress: (g.liftCase(p0, 2) === 0 ? undefined : { rate: g.liftU64(p1), burst: g.liftU64(p2), latency: g.liftU32(p3) }), egress: (g.liftCase(p4, 2) === 0 ? undefined : { rate: g.liftU64(p5), burst: g.liftU64(p6), latency: g.liftU32(p7) }), networks: g.liftList(p8, p9, 8, 4, (_, e) => g.loadString(e)), exempt: g.liftList(p10, p11, 8, 4, (_, e) => g.loadString(e)) }],
      lower(g: Guest, value: Outcome<string | undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); g.storeString(at + 4 + 4, value.ok); } }
      },
    },
    "usage": {
      host: "usage",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<ShapingTraffic, Fault>, at: number): void {
        g.range(at, 72, 8);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 8, value.err); } else { g.storeU8(at, 0); storeShapingTraffic(g, at + 8, value.ok); }
      },
    },
    "remove": {
      host: "remove",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "retain": {
      host: "retain",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 16, 4, loadAttachmentId)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
  },
  "filter": {
    "replace": {
      host: "replace",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number, p8: number, p9: number, p10: number) => [{ addresses: g.liftList(p0, p1, 8, 4, (_, e) => g.loadString(e)), adminChain: g.liftString(p2, p3), ingress: liftFilterIngressPolicy(g, p4), bridge: (g.liftCase(p5, 2) === 0 ? undefined : g.liftString(p6, p7)), zone: (g.liftCase(p8, 2) === 0 ? undefined : g.liftString(p9, p10)) }],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "difference": {
      host: "difference",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number, p8: number, p9: number, p10: number) => [{ addresses: g.liftList(p0, p1, 8, 4, (_, e) => g.loadString(e)), adminChain: g.liftString(p2, p3), ingress: liftFilterIngressPolicy(g, p4), bridge: (g.liftCase(p5, 2) === 0 ? undefined : g.liftString(p6, p7)), zone: (g.liftCase(p8, 2) === 0 ? undefined : g.liftString(p9, p10)) }],
      lower(g: Guest, value: Outcome<string | undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); g.storeString(at + 4 + 4, value.ok); } }
      },
    },
    "remove": {
      host: "remove",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "retain": {
      host: "retain",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 16, 4, loadAttachmentId)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "probe": {
      host: "probe",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
  },
  "dhcp": {
    "acquire": {
      host: "acquire",
      core: "i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number) => [{ requested: g.liftList(p0, p1, 1, 1, (_, e) => g.u8(e)), provided: g.liftList(p2, p3, 12, 4, loadDhcpOptionValue), milliseconds: g.liftU32(p4) }],
      lower(g: Guest, value: Outcome<DhcpLease, Fault>, at: number): void {
        g.range(at, 84, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); storeDhcpLease(g, at + 4, value.ok); }
      },
    },
    "held": {
      host: "held",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<DhcpLease | undefined, Fault>, at: number): void {
        g.range(at, 88, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); storeDhcpLease(g, at + 4 + 4, value.ok); } }
      },
    },
    "release": {
      host: "release",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
    "retain": {
      host: "retain",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftList(p0, p1, 16, 4, loadAttachmentId)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "probe": {
      host: "probe",
      core: "i32>",
      lift: () => [],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
  },
  "flows": {
    "forget": {
      host: "forget",
      core: "i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number) => [g.liftList(p0, p1, 8, 4, (_, e) => g.loadString(e)), g.liftList(p2, p3, 4, 2, loadFlowsPort)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
  },
};

/** Glue of the functions that a delegate exports. */
export const verbs = {
  add: {
    core: "i32>i32",
    lower(g: Guest, request: AttachmentRequest): number[] {
      const at = g.alloc(172, 4);
      storeAttachmentRequest(g, at, request);
      return [at];
    },
    lift(g: Guest, at: number): Outcome<Success, Fault> {
      g.range(at, 68, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: loadSuccess(g, at + 4) } : { err: loadFault(g, at + 4) });
    },
  },
  del: {
    core: "i32>i32",
    lower(g: Guest, request: AttachmentRequest): number[] {
      const at = g.alloc(172, 4);
      storeAttachmentRequest(g, at, request);
      return [at];
    },
    lift(g: Guest, at: number): Outcome<undefined, Fault> {
      g.range(at, 28, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: undefined } : { err: loadFault(g, at + 4) });
    },
  },
  check: {
    core: "i32>i32",
    lower(g: Guest, request: AttachmentRequest): number[] {
      const at = g.alloc(172, 4);
      storeAttachmentRequest(g, at, request);
      return [at];
    },
    lift(g: Guest, at: number): Outcome<undefined, Fault> {
      g.range(at, 28, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: undefined } : { err: loadFault(g, at + 4) });
    },
  },
  gc: {
    core: "i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32>i32",
    lower(g: Guest, request: GcRequest): number[] {
      const out: number[] = [];
      g.lowerU32(request.call.remainingMs, out);
    g.lowerList(request.call.granted, 8, 4, out, (e, v) => { g.storeString(e, v); });
    g.lowerString(request.network.cniVersion, out);
    g.lowerString(request.network.name, out);
    g.lowerString(request.network.config, out);
    g.lowerList(request.valid, 16, 4, out, (e, v) => { storeAttachmentId(g, e, v); });
      return out;
    },
    lift(g: Guest, at: number): Outcome<undefined, Fault> {
      g.range(at, 28, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: undefined } : { err: loadFault(g, at + 4) });
    },
  },
  status: {
    core: "i32,i32,i32,i32,i32,i32,i32,i32,i32>i32",
    lower(g: Guest, request: StatusRequest): number[] {
      const out: number[] = [];
      g.lowerU32(request.call.remainingMs, out);
    g.lowerList(request.call.granted, 8, 4, out, (e, v) => { g.storeString(e, v); });
    g.lowerString(request.network.cniVersion, out);
    g.lowerString(request.network.name, out);
    g.lowerString(request.network.config, out);
      return out;
    },
    lift(g: Guest, at: number): Outcome<undefined, Fault> {
      g.range(at, 28, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: undefined } : { err: loadFault(g, at + 4) });
    },
  },
} as const satisfies Readonly<Record<string, VerbGlue>>;
