{{/* What every pod has, as Pod Security `restricted` wants it. */}}

{{- define "platform.podSecurity" -}}
automountServiceAccountToken: false
# Variables that Kubernetes would make of its Services could be taken for settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "platform.container" -}}
image: {{ include "platform.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* The pod of a service, for (dict "root" $ "name" service "service" values). */}}
{{- define "platform.pod" -}}
{{- $service := .service -}}
{{- $values := .root.Values -}}
{{- $known := index (.root.Files.Get "files/settings.json" | fromJson) .name -}}
{{- $mounts := dict -}}
{{- range $kind, $variable := dict "catalog" "SVC_CATALOG" "characters" "SVC_CHARACTERS" -}}
{{- $name := include "platform.configMap" (dict "root" $.root "kind" $kind) -}}
{{- if and $name (has $variable $known.optional) }}{{ $_ := set $mounts $kind $name }}{{ end -}}
{{- end -}}
metadata:
  labels:
    {{- include "platform.selector" . | nindent 4 }}
    {{- include "platform.chartLabels" .root | nindent 4 }}
  annotations:
    kubectl.kubernetes.io/default-container: {{ .name }}
    {{- /* Processes read their secrets at the start. */}}
    checksum/secrets: {{ include "platform.secretsChecksum" .root }}
    {{- with $service.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "platform.podSecurity" .root | nindent 2 }}
  serviceAccountName: {{ include "platform.fullname" .root }}
  {{- with include "platform.priorityClass" .root }}
  priorityClassName: {{ . }}
  {{- end }}
  # What the pod waits before it is told to stop, answers under way, and what closes after them.
  terminationGracePeriodSeconds: {{ add $service.preStopSeconds $service.drainSeconds 35 }}
  topologySpreadConstraints:
    {{- range $topology := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ $topology }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: { matchLabels: {{ include "platform.selector" $ | fromYaml | toJson }} }
      {{- if not $service.persistence.enabled }}
      matchLabelKeys: [pod-template-hash]
      {{- end }}
    {{- end }}
  {{- range $part := list "nodeSelector" "tolerations" "affinity" }}
  {{- with index $service $part }}
  {{ $part }}: {{ toJson . }}
  {{- end }}
  {{- end }}
  containers:
    - name: {{ .name }}
      {{- include "platform.container" .root | nindent 6 }}
      command: [node, apps/{{ .name }}/dist/main.js]
      env:
        {{- include "platform.env" . | trim | nindent 8 }}
      {{- $secrets := list }}
      {{- if and $service.reachesBackends $values.backends.existingSecret }}{{ $secrets = append $secrets $values.backends.existingSecret }}{{ end }}
      {{- if and $service.searches $values.search.existingSecret }}{{ $secrets = append $secrets $values.search.existingSecret }}{{ end }}
      {{- with uniq $secrets }}
      # What the catalogue's `apiKeyEnv` names. Settings go before it.
      envFrom:
        {{- range . }}
        - secretRef: { name: {{ . }} }
        {{- end }}
      {{- end }}
      ports:
        - { name: http, containerPort: {{ $service.port }} }
        {{- with $service.operatorPort }}
        - { name: operator, containerPort: {{ . }} }
        {{- end }}
      # It has begun to serve: until then nothing else is asked. A ledger posts first what was recorded before.
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ div $service.startSeconds 2 | max 1 }}
      # Its event loop turns. A neighbour that is away is no reason to end it.
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # It can serve: the neighbours that it can't do without are there, and it does not stop.
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 3
        timeoutSeconds: 3
        failureThreshold: 2
      lifecycle:
        preStop: { sleep: { seconds: {{ $service.preStopSeconds }} } }
      resources: {{ toJson $service.resources }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- if $service.persistence.enabled }}
        - { name: data, mountPath: /var/lib/svc }
        {{- end }}
        {{- include "platform.secretMounts" $ | nindent 8 }}
        {{- /* Folders and no single files, which would stay as they were when the ConfigMap changes. */}}
        {{- range $kind, $configMap := $mounts }}
        - { name: {{ $kind }}, mountPath: /etc/svc/{{ $kind }}, readOnly: true }
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
    {{- include "platform.secretVolumes" $ | nindent 4 }}
    {{- range $kind, $configMap := $mounts }}
    - { name: {{ $kind }}, configMap: { name: {{ $configMap }} } }
    {{- end }}
{{- end }}

{{/* Files of Secrets in a pod, which lie where the settings look for them. */}}
{{- define "platform.secretMounts" -}}
{{- range $name, $_ := include "platform.secretFiles" . | fromYaml }}
- { name: {{ $name }}, mountPath: /etc/svc/{{ $name }}, readOnly: true }
{{- end }}
{{- end }}

{{/* The mode is 0440, which not every reader of YAML takes for octal. */}}
{{- define "platform.secretVolumes" -}}
{{- range $name, $of := include "platform.secretFiles" . | fromYaml }}
- name: {{ $name }}
  secret: { secretName: {{ $of.secret }}, defaultMode: 288{{ with $of.key }}, items: [{ key: {{ . }}, path: {{ $of.path }} }]{{ end }} }
{{- end }}
{{- end }}

{{- define "platform.priorityClass" -}}
{{- with .Values.priorityClass -}}
{{- if .create }}{{ .name | default (include "platform.fullname" $) }}{{ else }}{{ .name }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "platform.secretsChecksum" -}}
{{- list .Values.postgres.url .Values.redis.url .Values.kafka.password .Values.tokens.existingSecret | toJson | sha256sum | trunc 16 -}}
{{- end }}
