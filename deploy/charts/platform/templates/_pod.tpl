{{/*
The pod template of every workload: the parts that all pods share, then the extension points of its values, then the overlays.
For (dict "root" $ "name" component "workload" values "spec" YAML), where `spec` is the workload's own part, its own
container first. A Deployment adds "hashed" true, a workload to be replaced when its Secrets change "checksummed" true.
*/}}
{{- define "platform.pod" -}}
{{- $workload := .workload -}}
{{- $spec := .spec | fromYaml -}}
{{- with $spec.Error }}{{ fail . }}{{ end -}}
{{- $selector := include "platform.selector" . | fromYaml -}}
{{- $_ := set $spec "automountServiceAccountToken" false -}}
{{- /* Kubernetes would otherwise set variables such as REDIS_PORT for each Service, which look like settings. */ -}}
{{- $_ := set $spec "enableServiceLinks" false -}}
{{- with $workload.podSecurityContext }}{{ $_ := set $spec "securityContext" . }}{{ end -}}
{{- with .root.Values.image.pullSecrets }}{{ $_ := set $spec "imagePullSecrets" . }}{{ end -}}
{{- with $workload.serviceAccountName }}{{ $_ := set $spec "serviceAccountName" . }}{{ end -}}
{{- range $part := list "nodeSelector" "tolerations" "affinity" -}}
{{- with index $workload $part }}{{ $_ := set $spec $part . }}{{ end -}}
{{- end -}}
{{- $spread := list -}}
{{- range $workload.topologySpreadConstraints -}}
{{- $constraint := dict "labelSelector" (dict "matchLabels" $selector) -}}
{{- if $.hashed }}{{ $_ := set $constraint "matchLabelKeys" (list "pod-template-hash") }}{{ end -}}
{{- $spread = append $spread (hasKey . "labelSelector" | ternary . (merge . $constraint)) -}}
{{- end -}}
{{- with $spread }}{{ $_ := set $spec "topologySpreadConstraints" . }}{{ end -}}
{{- $main := first $spec.containers -}}
{{- with $workload.securityContext }}{{ $_ := set $main "securityContext" . }}{{ end -}}
{{- $_ := set $main "resources" $workload.resources -}}
{{- $env := $workload.extraEnv | default list -}}
{{- $names := list -}}
{{- range $env }}{{ $names = append $names .name }}{{ end -}}
{{- range reverse ($main.env | default list) -}}
{{- if not (has .name $names) }}{{ $env = prepend $env . }}{{ end -}}
{{- end -}}
{{- with $env }}{{ $_ := set $main "env" . }}{{ end -}}
{{- include "platform.append" (dict "to" $main "part" "envFrom" "items" $workload.envFrom) -}}
{{- include "platform.append" (dict "to" $main "part" "volumeMounts" "items" $workload.extraVolumeMounts) -}}
{{- include "platform.append" (dict "to" $spec "part" "volumes" "items" $workload.extraVolumes) -}}
{{- /* As init containers that keep running, sidecars start before the process, end after it, and let a Job complete. */ -}}
{{- $before := $workload.initContainers | default list -}}
{{- range $workload.sidecars }}{{ $before = append $before (merge (dict "restartPolicy" "Always") .) }}{{ end -}}
{{- with $before }}{{ $_ := set $spec "initContainers" . }}{{ end -}}
{{- $annotations := dict "kubectl.kubernetes.io/default-container" $main.name -}}
{{- if .checksummed }}{{ $_ := set $annotations "checksum/secrets" (include "platform.secretsChecksum" (dict "root" .root "spec" $spec)) }}{{ end -}}
{{- $labels := merge (deepCopy $selector) (include "platform.chartLabels" .root | fromYaml) ($workload.podLabels | default dict) -}}
{{- include "platform.overlayPart" (dict "root" .root "name" .name "part" "container" "kind" "" "to" $main) -}}
{{- $annotations = merge $annotations ($workload.podAnnotations | default dict) -}}
{{- $pod := dict "metadata" (dict "labels" $labels "annotations" $annotations) "spec" $spec -}}
{{- include "platform.overlayPart" (dict "root" .root "name" .name "part" "podTemplate" "kind" "" "to" $pod) -}}
{{- /* Services and NetworkPolicies select pods by these labels. */ -}}
{{- $_ := mergeOverwrite $pod.metadata.labels $selector -}}
{{- toYaml $pod -}}
{{- end }}

{{/* Appends items to a list of a map, in place; an empty list is left out. */}}
{{- define "platform.append" -}}
{{- $all := concat (get .to .part | default list) (.items | default list) -}}
{{- if $all }}{{ $_ := set .to .part $all }}{{ else }}{{ $_ := unset .to .part }}{{ end -}}
{{- end }}

{{- define "platform.container" -}}
image: {{ include "platform.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{/* The parts of a pod that only services have, for (dict "root" $ "name" service "service" values "connections" secret). */}}
{{- define "platform.serviceSpec" -}}
{{- $service := .service -}}
{{- $values := .root.Values -}}
{{- $known := index (.root.Files.Get "files/settings.json" | fromJson) .name -}}
{{- $mounts := dict -}}
{{- range $kind, $variable := dict "catalog" "SVC_CATALOG" "characters" "SVC_CHARACTERS" -}}
{{- $name := include "platform.configMap" (dict "root" $.root "kind" $kind) -}}
{{- if and $name (has $variable $known.optional) }}{{ $_ := set $mounts $kind $name }}{{ end -}}
{{- end -}}
serviceAccountName: {{ include "platform.fullname" .root }}
{{- with include "platform.priorityClass" .root }}
priorityClassName: {{ . }}
{{- end }}
terminationGracePeriodSeconds: {{ include "platform.graceSeconds" $service }}
containers:
  - name: {{ .name }}
    {{- include "platform.container" .root | nindent 4 }}
    command: [node, apps/{{ .name }}/dist/main.js]
    env:
      {{- include "platform.env" . | trim | nindent 6 }}
    {{- with and $service.searches $values.search.existingSecret }}
    # The API keys that `apiKeyEnv` of the catalogue's search providers names. Settings take precedence.
    envFrom:
      - secretRef: { name: {{ . }} }
    {{- end }}
    ports:
      - { name: http, containerPort: {{ $service.port }} }
      {{- with $service.operatorPort }}
      - { name: operator, containerPort: {{ . }} }
      {{- end }}
      {{- if and $values.proxyProtocol.enabled (has "GATEWAY_PROXY_LISTEN" $known.optional) }}
      - { name: proxy-protocol, containerPort: {{ $values.proxyProtocol.port }} }
      {{- end }}
    # Has started; the other probes begin after that. A ledger first posts the charges recorded before.
    startupProbe:
      httpGet: { path: /healthz, port: http }
      periodSeconds: 2
      timeoutSeconds: 2
      failureThreshold: {{ div $service.startSeconds 2 | max 1 }}
    # Its event loop runs. Another service that is down is no reason to restart it.
    livenessProbe:
      httpGet: { path: /healthz, port: http }
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 6
    # Can serve: its required dependencies are ready, and it is not stopping.
    readinessProbe:
      httpGet: { path: /readyz, port: http }
      periodSeconds: 3
      timeoutSeconds: 3
      failureThreshold: 2
    lifecycle:
      preStop: { sleep: { seconds: {{ $service.preStopSeconds }} } }
    volumeMounts:
      - { name: tmp, mountPath: /tmp }
      {{- if $service.persistence.enabled }}
      - { name: data, mountPath: /var/lib/svc }
      {{- end }}
      {{- include "platform.fileMounts" $ | nindent 6 }}
      {{- /* Folders, because files mounted one by one do not follow changes of the ConfigMap. */}}
      {{- range $kind, $configMap := $mounts }}
      - { name: {{ $kind }}, mountPath: /etc/svc/{{ $kind }}, readOnly: true }
      {{- end }}
volumes:
  - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
  {{- include "platform.fileVolumes" $ | nindent 2 }}
  {{- range $kind, $configMap := $mounts }}
  - { name: {{ $kind }}, configMap: { name: {{ $configMap }} } }
  {{- end }}
{{- end }}

{{- define "platform.fileMounts" -}}
{{- range $name, $_ := include "platform.files" . | fromYaml }}
- { name: {{ $name }}, mountPath: /etc/svc/{{ $name }}, readOnly: true }
{{- end }}
{{- end }}

{{/* Secrets get the mode 0440, in decimal because not every YAML parser reads 0440 as octal. */}}
{{- define "platform.fileVolumes" -}}
{{- range $name, $source := include "platform.files" . | fromYaml }}
{{- with $source.secret }}{{ $_ := set . "defaultMode" 288 }}{{ end }}
- {{ merge (dict "name" $name) $source | toJson }}
{{- end }}
{{- end }}

{{- define "platform.priorityClass" -}}
{{- with .Values.priorityClass -}}
{{- if .create }}{{ .name | default (include "platform.fullname" $) }}{{ else }}{{ .name }}{{ end -}}
{{- end -}}
{{- end }}

{{/*
A checksum of the Secrets that a pod's process reads at its start, so that the next upgrade after a change replaces the pod; not of the
keys of backends, which are read again when they change. It can't be used to guess a password, because the Secrets of each process
include a token. If the chart is rendered without a cluster, it is a checksum of the Secrets' names. For (dict "root" $ "spec" map).
*/}}
{{- define "platform.secretsChecksum" -}}
{{- $read := list -}}
{{- $main := first .spec.containers -}}
{{- range $main.env -}}
{{- with (.valueFrom | default dict).secretKeyRef -}}
{{- $data := include "platform.secretData" (dict "root" $.root "name" .name) | fromJson -}}
{{- $read = append $read (list .name .key (get $data .key)) -}}
{{- end -}}
{{- end -}}
{{- range $main.envFrom -}}
{{- with .secretRef }}{{ $read = append $read (list .name (include "platform.secretData" (dict "root" $.root "name" .name))) }}{{ end -}}
{{- end -}}
{{- range .spec.volumes -}}
{{- with and (ne .name "backends") .secret }}{{ $read = append $read (list .secretName (include "platform.secretData" (dict "root" $.root "name" .secretName))) }}{{ end -}}
{{- end -}}
{{- $read | toJson | sha256sum | trunc 16 -}}
{{- end }}

{{/* The data of a Secret, as JSON: of the release's own Secrets after the upgrade, of others now. For (dict "root" $ "name" secret). */}}
{{- define "platform.secretData" -}}
{{- $values := .root.Values -}}
{{- if eq .name (include "platform.connectionsSecret" .root) -}}
{{- dict "postgres" $values.postgres.url "redis" $values.redis.url "kafka" $values.kafka.password | toJson -}}
{{- else if and (eq .name (include "platform.tokensSecret" .root)) (not $values.tokens.existingSecret) -}}
{{- include "platform.tokens" .root -}}
{{- else -}}
{{- (lookup "v1" "Secret" .root.Release.Namespace .name).data | default dict | toJson -}}
{{- end -}}
{{- end }}

{{/*
The tokens of a release that creates its own, as JSON: created once and kept by upgrades. A release that has one internal token for all
services keeps it instead of getting one for each: its running pods would refuse others (docs/rotation.md).
*/}}
{{- define "platform.tokens" -}}
{{- if not (hasKey .Values.tokens "made") -}}
{{- $there := (lookup "v1" "Secret" .Release.Namespace (include "platform.tokensSecret" .)).data | default dict -}}
{{- $made := dict -}}
{{- range $variable, $key := include "platform.tokenKeys" . | fromYaml -}}
{{- $isInternal := not (has $variable (list "GATEWAY_WEBHOOK_KEY" "SVC_OPERATOR_TOKEN" "SVC_METRICS_TOKEN")) -}}
{{- if hasKey $there $key -}}
{{- $_ := set $made $key (get $there $key) -}}
{{- else if not (or (hasSuffix "_SECOND" $variable) (eq $variable "SVC_INTERNAL_TOKEN") (and $isInternal (hasKey $there "internal-token"))) -}}
{{- $_ := set $made $key (randAlphaNum 48 | b64enc) -}}
{{- end -}}
{{- end -}}
{{- /* Stored in the values, so that all templates of a rendering get the same tokens. */ -}}
{{- $_ := set .Values.tokens "made" $made -}}
{{- end -}}
{{- toJson .Values.tokens.made -}}
{{- end }}
