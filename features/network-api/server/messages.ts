// The methods and messages of the CRI Network API, from the generated descriptor. Loading this module loads protobufjs.

import protobuf from "protobufjs/light.js";
import { codecOf, methodsOf, type RpcMethod } from "../../../host/node/grpc/rpc-method.ts";
import { networkApiDescriptor } from "./generated/descriptor.ts";

const root = protobuf.Root.fromJSON(JSON.parse(networkApiDescriptor)).resolveAll();

/** All methods by name. */
export const rpcMethods: ReadonlyMap<string, RpcMethod> = methodsOf(root, [
  "plexus.network.v1alpha1.RuntimeService",
  "plexus.network.v1alpha1.NetworkService",
]);

/** google.rpc.Status and ErrorInfo, for the details of an error. */
export const rpcStatus = codecOf(root.lookupType("google.rpc.Status"));
export const rpcErrorInfo = codecOf(root.lookupType("google.rpc.ErrorInfo"));

/** The type of ErrorInfo in google.protobuf.Any. */
export const errorInfoType = "type.googleapis.com/google.rpc.ErrorInfo";
