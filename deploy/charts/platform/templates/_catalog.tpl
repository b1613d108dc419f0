{{/* Whether values hold a catalogue, or name the ConfigMap of one. */}}
{{- define "platform.hasCatalog" -}}
{{- if or .Values.catalog.content .Values.catalog.existingConfigMap }}true{{ end -}}
{{- end }}

{{/*
Whether the release may respond with the simulator's models: because `simulator.enabled` says so, or because it is a single process
without any server.
*/}}
{{- define "platform.isTrial" -}}
{{- $enabled := toString .Values.simulator.enabled -}}
{{- if or (eq $enabled "true") (and (eq $enabled "auto") (include "platform.isSingle" .)) }}true{{ end -}}
{{- end }}

{{/* The entries of a catalogue that are not the simulator, or, for (dict "text" text "simulated" true), those that are. */}}
{{- define "platform.catalogEntries" -}}
{{- $simulated := .simulated | default false -}}
{{- $catalog := fromYaml .text -}}
{{- range $model := $catalog.models | default list -}}
{{- range $backend := $model.backends | default list -}}
{{- if eq (eq (get $backend "kind" | default "openai") "simulator") $simulated }}{{ $model.id }} {{ end -}}
{{- end -}}
{{- end -}}
{{- range $provider := ($catalog.search | default dict).providers | default list -}}
{{- if eq (eq (get $provider "kind" | default "") "simulator") $simulated }}search {{ end -}}
{{- end -}}
{{- end }}

{{/*
Fails unless it is certain which catalogue the release is meant to have: models and prices that customers use are never replaced by
those of the repository, because an upgrade left a value out, nor by simulated ones.
*/}}
{{- define "platform.requireCatalog" -}}
{{- $hint := "--set-file catalog.content=catalog.yaml, or catalog.existingConfigMap" -}}
{{- if and .Values.catalog.content .Values.catalog.existingConfigMap -}}
{{- fail "catalog.content and catalog.existingConfigMap are both set: which one is meant?" -}}
{{- end -}}
{{- if include "platform.hasCatalog" . -}}
{{- if ne (toString .Values.simulator.enabled) "true" -}}
{{- $text := .Values.catalog.content -}}
{{- with .Values.catalog.existingConfigMap -}}
{{- $found := lookup "v1" "ConfigMap" $.Release.Namespace . | default dict -}}
{{- $text = get ($found.data | default dict) "catalog.yaml" | default "" -}}
{{- end -}}
{{- with include "platform.catalogEntries" (dict "text" $text "simulated" true) | trim -}}
{{- fail (printf "the catalogue has simulated entries (%s), whose responses are charged like any others: remove them, or set simulator.enabled=true for a trial" .) -}}
{{- end -}}
{{- end -}}
{{- else if not (include "platform.isTrial" .) -}}
{{- fail (printf "set the catalogue of your models: %s. For a trial with simulated models set simulator.enabled=true" $hint) -}}
{{- else if and .Release.IsUpgrade (ne (toString .Values.simulator.enabled) "true") -}}
{{- with lookup "v1" "ConfigMap" .Release.Namespace (printf "%s-catalog" (include "platform.fullname" .)) -}}
{{- if include "platform.catalogEntries" (dict "text" (get (.data | default dict) "catalog.yaml" | default "")) | trim -}}
{{- fail (printf "this upgrade has no catalogue, and would replace the one of the release by that of the repository: %s" $hint) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
