// The messages of the kubelet's plugin registration (pluginregistration, v1) and of its drivers of dynamic resources (k8s.io/kubelet, dra/v1). The
// numbers of the fields are the kubelet's. Loading this module loads protobufjs.

import protobuf from "protobufjs/light.js";
import { methodsOf, type RpcMethod } from "../../../host/node/grpc/rpc-method.ts";

const text = (id: number): object => ({ type: "string", id });
const texts = (id: number): object => ({ rule: "repeated", type: "string", id });
const method = (name: string): object => ({ requestType: `${name}Request`, responseType: `${name}Response` });
const claim = { fields: { namespace: text(1), uid: text(2), name: text(3) } };
const device = {
  oneofs: { _shareId: { oneof: ["share_id"] } },
  fields: {
    request_names: texts(1),
    pool_name: text(2),
    device_name: text(3),
    cdi_device_ids: texts(4),
    share_id: { ...text(5), options: { proto3_optional: true } },
  },
};
const driver = {
  DRAPlugin: {
    methods: {
      NodePrepareResources: method("NodePrepareResources"),
      NodeUnprepareResources: method("NodeUnprepareResources"),
    },
  },
  Claim: claim,
  Device: device,
  NodePrepareResourcesRequest: { fields: { claims: { rule: "repeated", type: "Claim", id: 1 } } },
  NodePrepareResourcesResponse: { fields: { claims: { keyType: "string", type: "NodePrepareResourceResponse", id: 1 } } },
  NodePrepareResourceResponse: { fields: { devices: { rule: "repeated", type: "Device", id: 1 }, error: text(2) } },
  NodeUnprepareResourcesRequest: { fields: { claims: { rule: "repeated", type: "Claim", id: 1 } } },
  NodeUnprepareResourcesResponse: { fields: { claims: { keyType: "string", type: "NodeUnprepareResourceResponse", id: 1 } } },
  NodeUnprepareResourceResponse: { fields: { error: text(1) } },
};
const registration = {
  Registration: {
    methods: {
      GetInfo: { requestType: "InfoRequest", responseType: "PluginInfo" },
      NotifyRegistrationStatus: { requestType: "RegistrationStatus", responseType: "RegistrationStatusResponse" },
    },
  },
  InfoRequest: { fields: {} },
  PluginInfo: { fields: { type: text(1), name: text(2), endpoint: text(3), supported_versions: texts(4) } },
  RegistrationStatus: { fields: { plugin_registered: { type: "bool", id: 1 }, error: text(2) } },
  RegistrationStatusResponse: { fields: {} },
};
const nested = (path: readonly string[], content: object): object =>
  path.reduceRight((inner, name) => ({ [name]: { nested: inner } }), content);

/** The version that the driver offers. Kubelets from 1.34 on speak it, and older ones have no resource.k8s.io/v1. */
export const driverVersion = "v1.DRAPlugin";

const root = protobuf.Root.fromJSON({
  nested: {
    ...nested(["pluginregistration"], registration),
    ...nested(["k8s", "io", "kubelet", "pkg", "apis", "dra", "v1"], driver),
  },
}).resolveAll();

/** The methods of both services by name. */
export const driverMethods: ReadonlyMap<string, RpcMethod> = methodsOf(root, [
  "pluginregistration.Registration",
  "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin",
]);
