// Network interfaces of nodes as EC2 describes them, with the ports that their tags name.

import {
  DescribeInstancesCommand,
  DescribeSubnetsCommand,
  type EC2Client,
  type Filter,
  type NetworkInterface,
  paginateDescribeNetworkInterfaces,
} from "@aws-sdk/client-ec2";
import { readSubnet, type Subnet } from "./choose-address.ts";
import { Refusal } from "./refusal.ts";

/** The tag with the owner of an interface's ports. */
export const ownerTag = "plexus.dev/owner";
/** The prefix of a tag for each port: the address follows, and the value is the port's key. */
export const addressTag = "plexus.dev/address/";

/** An interface. */
export interface NodeInterface {
  readonly id: string;
  readonly mac: string;
  readonly subnetId: string;
  readonly deviceIndex: number | undefined;
  readonly isAttached: boolean;
  readonly owner: string | undefined;
  /** The keys of ports by address. EC2 may not have assigned the address yet. */
  readonly ports: ReadonlyMap<string, string>;
  /** All assigned addresses; the value says whether the address is the interface's own. */
  readonly addresses: ReadonlyMap<string, boolean>;
}

/** The interfaces that match all filters. */
export async function interfacesBy(client: EC2Client, filters: readonly Filter[]): Promise<readonly NodeInterface[]> {
  const found: NodeInterface[] = [];
  const pages = paginateDescribeNetworkInterfaces({ client, pageSize: 500 }, { Filters: [...filters] });
  for await (const { NetworkInterfaces = [] } of pages) found.push(...NetworkInterfaces.map(readInterface));
  return found;
}

/** The interface of this ID; undefined: EC2 has none. */
export async function interfaceOf(client: EC2Client, id: string): Promise<NodeInterface | undefined> {
  // A filter, because an ID that EC2 does not know is an error.
  return (await interfacesBy(client, [{ Name: "network-interface-id", Values: [id] }]))[0];
}

/** The interfaces of a node's instance. Throws a Refusal if no instance, or more than one, has the name. */
export async function interfacesOfNode(
  client: EC2Client,
  attribute: string,
  nodeName: string,
): Promise<readonly NodeInterface[]> {
  // EC2 reads * and ? in a filter as wildcards.
  if (/[*?\\]/.test(nodeName)) throw new Refusal(422, "nodeName has a wildcard");
  const filters = [
    { Name: attribute, Values: [nodeName] },
    { Name: "instance-state-name", Values: ["pending", "running"] },
  ];
  const { Reservations = [] } = await client.send(new DescribeInstancesCommand({ Filters: filters }));
  const ids = Reservations.flatMap(({ Instances = [] }) => Instances.flatMap(({ InstanceId }) => InstanceId ?? []));
  const [id] = ids;
  if (id === undefined) throw new Refusal(404, `EC2 has no running instance with ${attribute} ${nodeName}`);
  if (ids.length > 1) throw new Refusal(409, `EC2 has ${ids.length} instances with ${attribute} ${nodeName}`);
  return interfacesBy(client, [{ Name: "attachment.instance-id", Values: [id] }]);
}

/** The address range of a subnet. */
export async function subnetOf(client: EC2Client, subnetId: string): Promise<Subnet> {
  const { Subnets = [] } = await client.send(new DescribeSubnetsCommand({ SubnetIds: [subnetId] }));
  return readSubnet(Subnets[0]?.CidrBlock ?? "");
}

function readInterface(each: NetworkInterface): NodeInterface {
  const { NetworkInterfaceId = "", MacAddress = "", SubnetId = "", Attachment, TagSet = [], PrivateIpAddresses = [] } = each;
  const tags = new Map(TagSet.map(({ Key = "", Value = "" }) => [Key, Value]));
  return {
    id: NetworkInterfaceId,
    mac: MacAddress,
    subnetId: SubnetId,
    deviceIndex: Attachment?.DeviceIndex,
    isAttached: Attachment?.Status === "attached",
    owner: tags.get(ownerTag),
    ports: new Map(
      [...tags].flatMap(([tag, key]) => (tag.startsWith(addressTag) ? [[tag.slice(addressTag.length), key] as const] : [])),
    ),
    addresses: new Map(PrivateIpAddresses.map(({ PrivateIpAddress = "", Primary = false }) => [PrivateIpAddress, Primary])),
  };
}
