{{/* Names. Every define takes the root context, or (dict "root" $ "name" service). */}}

{{- define "platform.fullname" -}}
{{ .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "platform.chartLabels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "platform.releaseSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "platform.selector" -}}
{{ include "platform.releaseSelector" .root }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "platform.metadata" -}}
name: {{ include "platform.fullname" .root }}-{{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "platform.selector" . | nindent 2 }}
  {{- include "platform.chartLabels" .root | nindent 2 }}
{{- end }}

{{/* The labels of the release's series in Prometheus, which its ServiceMonitors set and its alerts carry. */}}
{{- define "platform.seriesLabels" -}}
{{- $default := dict "namespace" .Release.Namespace "release" .Release.Name -}}
{{ merge (deepCopy .Values.monitoring.seriesLabels) $default | toJson }}
{{- end }}

{{/* The same labels as a PromQL selector. */}}
{{- define "platform.seriesSelector" -}}
{{- $matchers := list -}}
{{- range $label, $value := include "platform.seriesLabels" . | fromJson -}}
{{- $matchers = append $matchers (printf "%s=%q" $label $value) -}}
{{- end -}}
{{ join "," $matchers }}
{{- end }}

{{- define "platform.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{/*
Merges values over others, in place: maps are merged, null removes, anything else replaces. For (dict "base" map "over" map).
*/}}
{{- define "platform.overlay" -}}
{{- $base := .base -}}
{{- range $key, $value := .over -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $base $key -}}
{{- else if and (kindIs "map" $value) (kindIs "map" (get $base $key)) -}}
{{- include "platform.overlay" (dict "base" (get $base $key) "over" $value) -}}
{{- else -}}
{{- $_ := set $base $key $value -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The values of a workload over `defaults`, as JSON. For (dict "root" $ "own" values). */}}
{{- define "platform.workload" -}}
{{- $workload := deepCopy .root.Values.defaults -}}
{{- include "platform.overlay" (dict "base" $workload "over" .own) -}}
{{- toJson $workload -}}
{{- end }}

{{/* The values of the workload with this name, without `defaults`, as JSON; `{}` if it is none. For (dict "root" $ "name" component). */}}
{{- define "platform.own" -}}
{{- with .root.Values -}}
{{- $others := dict "browser" .browser "model-simulator" .simulator "migrate" .migrations "topics" .kafka.topics "first-account" .firstAccount "test" .test -}}
{{- get (merge $others .services) $.name | default dict | toJson -}}
{{- end -}}
{{- end }}

{{/*
Merges a part of the values over an object, in place: first that of `defaults`, then that of the workload. For (dict "root" $
"name" component "part" name "kind" key in the part, or "" "to" map).
*/}}
{{- define "platform.overlayPart" -}}
{{- range $values := list .root.Values.defaults (include "platform.own" . | fromJson) -}}
{{- $over := get $values $.part -}}
{{- if $.kind -}}
{{- if hasKey ($over | default dict) $.kind -}}
{{- $over = get $over $.kind -}}
{{- /* Null removes the object. */ -}}
{{- if kindIs "invalid" $over }}{{ $_ := unset $.to "kind" }}{{ end -}}
{{- else -}}
{{- $over = dict -}}
{{- end -}}
{{- end -}}
{{- include "platform.overlay" (dict "base" $.to "over" ($over | default dict)) -}}
{{- end -}}
{{- end }}

{{/* Adds common labels and annotations to an object, then the overlays of its kind. For (dict "root" $ "object" map). */}}
{{- define "platform.overlayObject" -}}
{{- $metadata := .object.metadata -}}
{{- range $part, $common := dict "labels" .root.Values.commonLabels "annotations" .root.Values.commonAnnotations -}}
{{- with merge (get $metadata $part | default dict) $common }}{{ $_ := set $metadata $part . }}{{ end -}}
{{- end -}}
{{- $name := get $metadata.labels "app.kubernetes.io/component" | default "" -}}
{{- include "platform.overlayPart" (dict "root" .root "name" $name "part" "objects" "kind" .object.kind "to" .object) -}}
{{- end }}

{{/* Whether no server is configured: then every service runs in one process, which brings its own PostgreSQL. */}}
{{- define "platform.isSingle" -}}
{{- with .Values -}}
{{- if not (or .postgres.url .postgres.host .postgres.existingSecret.name .redis.url .redis.existingSecret.name .kafka.brokers) }}true{{ end -}}
{{- end -}}
{{- end }}

{{/* The enabled services by name, each with its values, as YAML. */}}
{{- define "platform.services" -}}
{{- $single := include "platform.isSingle" . -}}
{{- range $name, $own := .Values.services -}}
{{- $service := include "platform.workload" (dict "root" $ "own" $own) -}}
{{- /* Without a bucket there is no place for what the media worker makes. */ -}}
{{- $hasPlace := or (ne $name "media-worker") (not (empty $.Values.mediaStorage.bucket)) -}}
{{- if and $hasPlace (ternary (eq $name "all") ($service | fromJson).enabled (not (empty $single))) }}
{{ $name }}: {{ $service }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The termination grace period of a service's pod, for its values: the preStop wait, the drain of streams, then closing. */}}
{{- define "platform.graceSeconds" -}}
{{- add .preStopSeconds .drainSeconds 35 -}}
{{- end }}

{{/*
The time that Helm has to wait for an upgrade, in minutes, rounded up, plus one. Services are replaced in parallel, and the replicas
of a service one after another: each has to start, and in a StatefulSet the previous pod has to stop first. Jobs have deadlines.
*/}}
{{- define "platform.upgradeMinutes" -}}
{{- $seconds := max .Values.migrations.deadlineSeconds .Values.kafka.topics.deadlineSeconds -}}
{{- range $name, $service := include "platform.services" . | fromYaml -}}
{{- $replicas := ternary $service.autoscaling.max $service.replicas $service.autoscaling.enabled -}}
{{- $ending := ternary (include "platform.graceSeconds" $service) "0" $service.persistence.enabled -}}
{{- $seconds = max $seconds (mul $replicas (add $service.startSeconds $ending)) -}}
{{- end -}}
{{- add (div (add $seconds 59) 60) 1 -}}
{{- end }}

{{/* The service that clients and the operator call. */}}
{{- define "platform.public" -}}
{{- ternary "all" "api-gateway" (hasKey (include "platform.services" . | fromYaml) "all") -}}
{{- end }}

{{- define "platform.tokensSecret" -}}
{{ .Values.tokens.existingSecret | default (printf "%s-tokens" (include "platform.fullname" .)) }}
{{- end }}

{{- define "platform.connectionsSecret" -}}
{{ include "platform.fullname" . }}-connections
{{- end }}

{{/* Fails if a file of the chart is missing: alerts, dashboards or the catalogue would be absent without a word. */}}
{{- define "platform.requireFiles" -}}
{{- $listed := .Files.Get "files/contents.json" | default "[\"files/contents.json\"]" | fromJsonArray -}}
{{- range $path := $listed -}}
{{- if not ($.Files.Get $path) -}}
{{- fail (printf "this copy of the chart lacks %s: fetch or package it whole" $path) -}}
{{- end -}}
{{- end -}}
{{- end }}
