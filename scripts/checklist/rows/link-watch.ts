// Links of further networks that are watched, repaired and counted.

/** The rows. */
export const linkWatch: Readonly<Record<string, string>> = {
  "WA-01":
    "A pod's link that is gone, down or renamed, or has lost its address or master, is an Event, a condition in the network status, a metric and a line of plexusctl status.",
  "WA-02": "A master that is made anew (macvlan, ipvlan, VLAN, bridge port, OVS port) is noticed by the kernel's notification.",
  "WA-03":
    "With repair the network is attached again with name, MAC, addresses and routes; pauses grow; the pod is not restarted.",
  "WA-04":
    "Nothing that Plexus did not make is changed; links that KubeVirt or the pod itself renamed are known by their peer or index.",
  "WA-05":
    "After a reboot or the daemon's absence all links are looked at; a look is one effect for each pod in a minute, and 500 pods take at most 1 % of a processor.",
  "WA-06": "Counters by network and direction with bounded labels; by pod and interface on demand.",
};
