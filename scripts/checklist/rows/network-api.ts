// The rows of the CRI Network API.

export const networkApi: Readonly<Record<string, string>> = {
  "CR-01": "A service has SetPodNetwork, RemovePodNetwork and ListPodNetwork.",
  "CR-02": "Set creates or replaces a network; an older generation is refused.",
  "CR-03": "NetworkMetadata has name, namespace, uid and generation.",
  "CR-04": "NetworkConfig has optional ranges and a type; an unknown type is refused.",
  "CR-05": "CNIv1Config becomes a configuration list, and parameters become keys of the plugins.",
  "CR-06": "The next sandbox can use a network without a restart, and after one.",
  "CR-07": "A network in use can be removed; the removal is idempotent, and running sandboxes are deleted cleanly.",
  "CR-08": "List answers every network with configuration and status.",
  "CR-09": "The status has sandbox_management and connectivity, from STATUS.",
  "CR-10": "A sandbox's list names its networks in their order, with parameters.",
  "CR-11": "A sandbox without a list gets the default network on eth0.",
  "CR-12": "The network on the disk is listed as _fallback while its file exists.",
  "CR-13": "No client can set _fallback.",
  "CR-14": "A client accepts an empty list.",
  "CR-15": "Without any network the runtime's condition is not ready.",
  "CR-16": "A sandbox's status has the addresses of all networks with their names.",
  "CR-17": "A program that watches NetworkAttachmentDefinitions may set the networks.",
  "CR-18": "No type of the Kubernetes API is part of the API.",
  "CR-19": "A running sandbox can be attached, detached and queried.",
};
