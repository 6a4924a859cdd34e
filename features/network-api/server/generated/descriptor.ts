// Generated from deploy/proto by features/network-api/descriptor-module.ts.

/** The messages and services of the CRI Network API: the JSON form of protobufjs. */
export const networkApiDescriptor = `
{
"nested": {
"plexus": {
"nested": {
"network": {
"nested": {
"v1alpha1": {
"options": {
"go_package": "plexus.dev/network/v1alpha1;networkv1alpha1"
},
"nested": {
"RuntimeService": {
"methods": {
"SetPodNetwork": {
"requestType": "SetPodNetworkRequest",
"responseType": "SetPodNetworkResponse"
},
"RemovePodNetwork": {
"requestType": "RemovePodNetworkRequest",
"responseType": "RemovePodNetworkResponse"
},
"ListPodNetwork": {
"requestType": "ListPodNetworkRequest",
"responseType": "ListPodNetworkResponse"
}
}
},
"NetworkService": {
"methods": {
"PodSandboxNetworkStatus": {
"requestType": "PodSandboxNetworkStatusRequest",
"responseType": "PodSandboxNetworkStatusResponse"
},
"AttachInterface": {
"requestType": "AttachInterfaceRequest",
"responseType": "AttachInterfaceResponse"
},
"DetachInterface": {
"requestType": "DetachInterfaceRequest",
"responseType": "DetachInterfaceResponse"
},
"WatchPodNetwork": {
"requestType": "WatchPodNetworkRequest",
"responseType": "WatchPodNetworkEvent",
"responseStream": true
}
}
},
"NetworkMetadata": {
"fields": {
"name": {
"type": "string",
"id": 1
},
"namespace": {
"type": "string",
"id": 2
},
"uid": {
"type": "string",
"id": 3
},
"generation": {
"type": "uint32",
"id": 4
}
}
},
"CNIv1PluginConfig": {
"fields": {
"type": {
"type": "string",
"id": 1
},
"capabilities": {
"rule": "repeated",
"type": "string",
"id": 2
},
"parameters": {
"keyType": "string",
"type": "string",
"id": 3
}
}
},
"CNIv1Config": {
"fields": {
"cni_version": {
"type": "string",
"id": 1
},
"network_name": {
"type": "string",
"id": 2
},
"disable_check": {
"type": "bool",
"id": 3
},
"plugins": {
"rule": "repeated",
"type": "CNIv1PluginConfig",
"id": 4
}
}
},
"IPRange": {
"fields": {
"cidr": {
"type": "string",
"id": 1
}
}
},
"NetworkType": {
"values": {
"CNIv1": 0
}
},
"NetworkConfig": {
"fields": {
"metadata": {
"type": "NetworkMetadata",
"id": 1
},
"ip_ranges": {
"rule": "repeated",
"type": "IPRange",
"id": 2
},
"network_type": {
"type": "NetworkType",
"id": 3
},
"cniv1_config": {
"type": "CNIv1Config",
"id": 4
}
}
},
"SetPodNetworkRequest": {
"fields": {
"config": {
"type": "NetworkConfig",
"id": 1
}
}
},
"SetPodNetworkResponse": {
"fields": {
"warnings": {
"rule": "repeated",
"type": "string",
"id": 1
}
}
},
"RemovePodNetworkRequest": {
"fields": {
"metadata": {
"type": "NetworkMetadata",
"id": 1
}
}
},
"RemovePodNetworkResponse": {
"fields": {}
},
"ListPodNetworkRequest": {
"fields": {
"without_status": {
"type": "bool",
"id": 1
}
}
},
"NetworkStatus": {
"fields": {
"sandbox_management": {
"type": "bool",
"id": 1
},
"connectivity": {
"type": "bool",
"id": 2
},
"reason": {
"type": "string",
"id": 3
}
}
},
"PodNetworkResponse": {
"fields": {
"config": {
"type": "NetworkConfig",
"id": 1
},
"status": {
"type": "NetworkStatus",
"id": 2
}
}
},
"ListPodNetworkResponse": {
"fields": {
"networks": {
"rule": "repeated",
"type": "PodNetworkResponse",
"id": 1
}
}
},
"PodSandboxNetworkStatusRequest": {
"fields": {
"pod_sandbox_id": {
"type": "string",
"id": 1
}
}
},
"PodIP": {
"fields": {
"ip": {
"type": "string",
"id": 1
},
"network_name": {
"type": "string",
"id": 2
},
"interface_name": {
"type": "string",
"id": 3
}
}
},
"PodSandboxNetworkStatusResponse": {
"fields": {
"ips": {
"rule": "repeated",
"type": "PodIP",
"id": 1
}
}
},
"PodSandboxNetworkConfig": {
"fields": {
"interface_name": {
"type": "string",
"id": 1
},
"network_name": {
"type": "string",
"id": 2
},
"parameters": {
"keyType": "string",
"type": "string",
"id": 3
}
}
},
"AttachInterfaceRequest": {
"fields": {
"pod_sandbox_id": {
"type": "string",
"id": 1
},
"network": {
"type": "PodSandboxNetworkConfig",
"id": 2
}
}
},
"AttachInterfaceResponse": {
"fields": {
"interface_name": {
"type": "string",
"id": 1
},
"ips": {
"rule": "repeated",
"type": "PodIP",
"id": 2
}
}
},
"DetachInterfaceRequest": {
"fields": {
"pod_sandbox_id": {
"type": "string",
"id": 1
},
"interface_name": {
"type": "string",
"id": 2
}
}
},
"DetachInterfaceResponse": {
"fields": {}
},
"WatchPodNetworkRequest": {
"fields": {}
},
"WatchPodNetworkEvent": {
"fields": {
"type": {
"type": "Type",
"id": 1
},
"config": {
"type": "NetworkConfig",
"id": 2
}
},
"nested": {
"Type": {
"values": {
"ADDED": 0,
"MODIFIED": 1,
"REMOVED": 2,
"SYNCED": 3
}
}
}
}
}
}
}
}
}
},
"google": {
"nested": {
"rpc": {
"nested": {
"Any": {
"fields": {
"type_url": {
"type": "string",
"id": 1
},
"value": {
"type": "bytes",
"id": 2
}
}
},
"Status": {
"fields": {
"code": {
"type": "int32",
"id": 1
},
"message": {
"type": "string",
"id": 2
},
"details": {
"rule": "repeated",
"type": "Any",
"id": 3
}
}
},
"ErrorInfo": {
"fields": {
"reason": {
"type": "string",
"id": 1
},
"domain": {
"type": "string",
"id": 2
},
"metadata": {
"keyType": "string",
"type": "string",
"id": 3
}
}
}
}
}
}
}
}
}
`;
