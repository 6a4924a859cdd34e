{{- define "plexus.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "plexus.selector" -}}
app.kubernetes.io/name: plexus
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "plexus.labels" -}}
{{ include "plexus.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "plexus.image" -}}
{{- with .Values.image -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}

{{- /* The user name of the DaemonSet's service account. */ -}}
{{- define "plexus.user" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "plexus.name" . }}
{{- end -}}

{{- /* Plexus' configuration without clusterNetwork, which plexusd adds. */ -}}
{{- define "plexus.configuration" -}}
{{- $own := dict "cniVersion" "1.1.0" "name" "plexus" "type" "plexus" -}}
{{- range $key, $value := dict "podNetworks" "networks" "externalPorts" "externalPorts" "services" "services" "linkCounters" "linkCounters" "probes" "probes" "claims" "claims" -}}
{{- if and (index $.Values $value).enabled (eq (dig $key "" $.Values.config | toString) "false") }}{{ fail (printf "%s.enabled switches a part of Plexus on, and config.%s false switches the same part off on the nodes: remove one of the two values" $value $key) }}{{ end -}}
{{- end -}}
{{- if and .Values.dynamicResources.enabled (eq (dig "kubernetes" "resourceClaims" "" .Values.config | toString) "false") }}{{ fail "dynamicResources.enabled and config.kubernetes.resourceClaims false contradict each other: remove one of the two values" }}{{ end -}}
{{- with .Values.cni.networksDir }}{{ $_ := set $own "confDir" . }}{{ end -}}
{{- with .Values.definitions }}{{ $_ := set $own "definitions" . }}{{ end -}}
{{- with .Values.wasm }}{{ $_ := set $own "wasm" . }}{{ end -}}
{{- if eq .Values.nativePlugins "none" }}{{ $_ := set $own "wasm" (include "plexus.componentsOnly" . | fromJson) }}{{ end -}}
{{- if .Values.networks.enabled }}{{ $_ := set $own "podNetworks" true }}{{ end -}}
{{- if eq (include "plexus.requiresDefault" .) "yes" }}{{ $_ := set $own "requireDefaultPodNetwork" true }}{{ end -}}
{{- if .Values.dynamicResources.enabled }}{{ $_ := set $own "kubernetes" (dict "resourceClaims" true) }}{{ end -}}
{{- if .Values.externalPorts.enabled }}{{ $_ := set $own "externalPorts" true }}{{ end -}}
{{- if .Values.policies.enabled }}{{ $_ := set $own "policies" dict }}{{ end -}}
{{- if .Values.services.enabled }}{{ $_ := set $own "services" true }}{{ end -}}
{{- if .Values.linkWatch.enabled }}{{ $_ := set $own "linkWatch" (dict "repair" .Values.linkWatch.repair) }}{{ end -}}
{{- if .Values.linkCounters.enabled }}{{ $_ := set $own "linkCounters" true }}{{ end -}}
{{- if .Values.probes.enabled }}{{ $_ := set $own "probes" true }}{{ end -}}
{{- if and .Values.linkWatch.repair (not .Values.config.hotPlug) }}{{ fail "linkWatch.repair attaches networks of running pods: set config.hotPlug true, or linkWatch.repair false" }}{{ end -}}
{{- if .Values.claims.enabled }}{{ $_ := set $own "claims" true }}{{ end -}}
{{- mergeOverwrite $own (deepCopy .Values.config) | mustToPrettyJson -}}
{{- end -}}

{{- /* `wasm` with nativePlugins: none. A value that would bring a native plugin back is a mistake. */ -}}
{{- define "plexus.componentsOnly" -}}
{{- if ne .Values.shippedComponents "all" }}{{ fail "nativePlugins none needs shippedComponents all: a type without a component has no plugin" }}{{ end -}}
{{- if .Values.definitionChecks.knownPlugins }}{{ fail "nativePlugins none leaves no native plugins for definitionChecks.knownPlugins: remove one of the two values" }}{{ end -}}
{{- if not (dig "prefer" true .Values.wasm | toString | eq "true") }}{{ fail "nativePlugins none sets wasm.prefer: true; remove wasm.prefer" }}{{ end -}}
{{- if not (dig "enabled" true .Values.wasm) }}{{ fail "nativePlugins none needs components, and wasm.enabled is false" }}{{ end -}}
{{- set (deepCopy .Values.wasm) "prefer" true | mustToJson -}}
{{- end -}}

{{- /* The capabilities of the agent. A part that acts in running pods needs SYS_ADMIN to enter their network namespaces (setns(2)), and probes send packets. */ -}}
{{- define "plexus.agentCapabilities" -}}
{{- $looks := or .Values.policies.enabled .Values.services.enabled .Values.linkWatch.enabled .Values.linkCounters.enabled .Values.probes.enabled -}}
{{- $further := ternary (list "SYS_ADMIN" "NET_RAW") (list "SYS_ADMIN") .Values.probes.enabled -}}
{{- if eq (toString .Values.config.hotPlug) "true" }}{{ .Values.capabilities.hotPlugAgent | mustToJson }}
{{- else }}{{ ternary (concat .Values.capabilities.agent $further) .Values.capabilities.agent $looks | uniq | mustToJson }}{{ end -}}
{{- end -}}

{{- /* "yes" if a node is not ready without the PodNetwork "default". */ -}}
{{- define "plexus.requiresDefault" -}}
{{- and .Values.networks.enabled .Values.networks.requireDefault | ternary "yes" "" -}}
{{- end -}}

{{- /* Not empty if plexus-controller is needed: a part of it is switched on. */ -}}
{{- define "plexus.controller" -}}
{{- if or .Values.networks.enabled .Values.pools.enabled .Values.policies.enabled .Values.services.enabled .Values.externalPorts.enabled .Values.definitionChecks.enabled }}needed{{ end -}}
{{- end -}}

{{- /* The directory of journal and result cache on the node. */ -}}
{{- define "plexus.stateDirectory" -}}
{{- dig "cniDir" "/var/lib/cni/plexus" .Values.config | clean -}}
{{- end -}}

{{- /* The directory of journal and result cache, if it needs a mount of its own; otherwise empty. */ -}}
{{- define "plexus.ownStateDirectory" -}}
{{- $directory := include "plexus.stateDirectory" . -}}
{{- if not (hasPrefix "/var/lib/cni/" (printf "%s/" $directory)) }}{{ $directory }}{{ end -}}
{{- end -}}

{{- /* The argument that removes the state directory. Leases of all plugins are in /var/lib/cni, and each directory above it has them, too. */ -}}
{{- define "plexus.purgeState" -}}
{{- $directory := include "plexus.stateDirectory" . -}}
{{- if hasPrefix (printf "%s/" (trimSuffix "/" $directory)) "/var/lib/cni/" }}{{ fail (printf "uninstall.purgeState would remove config.cniDir %s with the leases of other plugins in /var/lib/cni: set uninstall.purgeState false" $directory) }}{{ end -}}
{{ printf "--purge-state=/host%s" $directory | quote }}
{{- end -}}

{{- /* The directory of configurations that definitions name, if it needs a mount of its own; otherwise empty. */ -}}
{{- define "plexus.networksDirectory" -}}
{{- with .Values.cni }}{{ if ne .networksDir .confDir }}{{ .networksDir }}{{ end }}{{ end -}}
{{- end -}}

{{- /* The host of the API server without the brackets of an IPv6 address, as in the environment that the kubelet gives to pods. */ -}}
{{- define "plexus.apiServerHost" -}}
{{- .Values.apiServer.host | trimPrefix "[" | trimSuffix "]" -}}
{{- end -}}

{{- /* The URL of the API server. */ -}}
{{- define "plexus.apiServerUrl" -}}
{{- $host := include "plexus.apiServerHost" . -}}
https://{{ if contains ":" $host }}[{{ $host }}]{{ else }}{{ $host }}{{ end }}:{{ .Values.apiServer.port }}
{{- end -}}

{{- /* The directory of the CRI Network API's socket, if it needs a mount of its own; otherwise empty. */ -}}
{{- define "plexus.networkDirectory" -}}
{{- with .Values.networkApi }}{{ if and .enabled (ne .directory "/run/plexus") }}{{ .directory }}{{ end }}{{ end -}}
{{- end -}}

{{- /* YAML 1.1 reads `off` as false. */ -}}
{{- define "plexus.oneShot" -}}
{{- if eq (toString .Values.oneShot) "node" }}node{{ else }}off{{ end -}}
{{- end -}}

{{- /* What every container has: no way to more rights, nothing to write but its mounts. `capabilities` is the list to add. */ -}}
{{- define "plexus.securityContext" -}}
runAsUser: 0
runAsGroup: 0
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
  {{- with .capabilities }}
  add: {{ toJson . }}
  {{- end }}
{{- end -}}

{{- define "plexus.podSecurityContext" -}}
seccompProfile: {{- toYaml .Values.seccompProfile | nindent 2 }}
{{- with .Values.seLinuxType }}
seLinuxOptions:
  type: {{ . | quote }}
{{- end }}
{{- end -}}

{{- /* The context of pods that use the daemon's files and sockets: root without CAP_DAC_OVERRIDE reaches them by the daemon's group, also those that an earlier
daemon with the default user has left. The kubelet gives the token to that group. */ -}}
{{- define "plexus.nodeSecurityContext" -}}
{{- include "plexus.podSecurityContext" . }}
fsGroup: {{ .Values.daemon.uid | default 1999999999 | int64 }}
{{- end -}}

{{- /* The arguments that give the daemon its user. */ -}}
{{- define "plexus.daemonUser" -}}
{{- with .Values.daemon }}
{{- if .uid }}
{{- range list "SETUID" "SETGID" }}
{{- if not (has . $.Values.capabilities.plexusd) }}{{ fail (printf "daemon.uid needs capabilities.plexusd with %s: the launch server changes the daemon's user. Add it, or set daemon.uid 0" .) }}{{ end -}}
{{- end }}
- --uid={{ .uid | int64 }}
{{- range .shareDirectories }}
- --share-dir={{ . }}
{{- end }}
{{- if eq $.Values.nativePlugins "none" }}
- --share-dir=/run/cni/tuning
{{- end }}
{{- with $.Values.externalPorts.ovs.socket }}
- --connect-to={{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "plexus.pullSecrets" -}}
{{- with .Values.image.pullSecrets -}}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- /* The nodes on which pods run. */ -}}
{{- define "plexus.scheduling" -}}
nodeSelector: {{- toYaml .Values.nodeSelector | nindent 2 }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
tolerations: {{- toYaml .Values.tolerations | nindent 2 }}
{{- end -}}

{{- /* The nodes on which a Job runs: not one that is away, which has a NoExecute taint. */ -}}
{{- define "plexus.jobScheduling" -}}
nodeSelector: {{- toYaml .Values.nodeSelector | nindent 2 }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
tolerations:
  - operator: Exists
    effect: NoSchedule
{{- end -}}

{{- /* The arguments of `plexusctl install` in the init container. */ -}}
{{- define "plexus.installArgs" -}}
- install
- --root=/host
- --cni-bin={{ .Values.cni.binDir }}
- --home={{ .Values.home }}
- --one-shot={{ include "plexus.oneShot" . }}
- --components={{ .Values.shippedComponents }}
- --own-caches
{{- end -}}

{{- /* The volume through which plexusd and the agent see the plugins. */ -}}
{{- define "plexus.pluginVolume" -}}
{{- with .Values.cni }}
{{- if .binDirMount }}
{{- if not (hasPrefix (printf "%s/" .binDirMount) .binDir) }}
{{- fail (printf "cni.binDirMount %s must contain cni.binDir %s" .binDirMount .binDir) }}
{{- end }}plugins-above
{{- else }}plugins
{{- end }}
{{- end }}
{{- end -}}

{{- /* The list of components that `plexusctl component pull` installs. */ -}}
{{- define "plexus.componentList" -}}
{{- dict "components" .Values.components "keys" .Values.componentKeys | mustToPrettyJson -}}
{{- end -}}

{{- /* The address of probes and scrapes. */ -}}
{{- define "plexus.probe" -}}
httpGet:
  path: {{ .path }}
  port: {{ .metrics.port }}
  {{- if eq .metrics.address "127.0.0.1" }}
  host: 127.0.0.1
  {{- end }}
{{- end -}}

{{- /* The container of a Job that waits for a DaemonSet; `wait` has its environment. */ -}}
{{- define "plexus.waitForNodes" -}}
containers:
  - name: wait
    image: {{ include "plexus.image" . }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    command: [/opt/plexus/bin/node, --input-type=module, --eval]
    args:
      - |
        {{- .Files.Get "files/wait-for-nodes.mjs" | nindent 8 }}
    env:
      - name: NAMESPACE
        value: {{ .Release.Namespace | quote }}
      - name: NODE_EXTRA_CA_CERTS
        value: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
      {{- range $key, $value := .wait }}
      - name: {{ $key }}
        value: {{ $value | quote }}
      {{- end }}
      {{- if .Values.apiServer.host }}
      - name: KUBERNETES_SERVICE_HOST
        value: {{ include "plexus.apiServerHost" $ | quote }}
      - name: KUBERNETES_SERVICE_PORT
        value: {{ $.Values.apiServer.port | quote }}
      {{- end }}
    resources: {{- toYaml .Values.resources.install | nindent 6 }}
    securityContext:
      runAsNonRoot: true
      runAsUser: 65532
      runAsGroup: 65532
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
{{- end -}}

{{/* The files of the ConfigMap that plexusd and the containers of components read. */}}
{{- define "plexus.configurationFiles" -}}
plexus.json: |
  {{- include "plexus.configuration" . | nindent 2 }}
components.json: |
  {{- include "plexus.componentList" . | nindent 2 }}
{{- if .Values.claims.enabled }}
claims.json: |
  {{- dict "devices" .Values.claims.devices | mustToPrettyJson | nindent 2 }}
{{- end }}
{{- with .Values.componentsAuthority }}
registry-ca.crt: |
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
