{{/* What things are called. Every define takes the root context, or (dict "root" $ "name" service). */}}

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

{{- define "platform.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{/* The services that run, each with its defaults, as YAML. */}}
{{- define "platform.services" -}}
{{- range $name, $own := .Values.services -}}
{{- $service := mergeOverwrite (deepCopy $.Values.defaults) (deepCopy $own) -}}
{{- if $service.enabled }}
{{ $name }}: {{ $service | toJson }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The one that clients and the operator ask. */}}
{{- define "platform.public" -}}
{{- ternary "all" "api-gateway" (hasKey (include "platform.services" . | fromYaml) "all") -}}
{{- end }}

{{- define "platform.tokensSecret" -}}
{{ .Values.tokens.existingSecret | default (printf "%s-tokens" (include "platform.fullname" .)) }}
{{- end }}

{{- define "platform.connectionsSecret" -}}
{{ include "platform.fullname" . }}-connections
{{- end }}
