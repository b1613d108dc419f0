{{/*
The environment of the processes. files/payments.json has the variables of each payment rail that come from a Secret, with their keys, and
files/settings.json lists the settings of each process, generated from their schemas. A process
gets only the variables that it knows, and the chart fails to render if a required one is missing.
*/}}

{{/* The service at the address in each variable. NetworkPolicies are derived from this. */}}
{{- define "platform.neighbours" -}}
LEDGER_URL: billing-ledger
LIMITER_URL: rate-limiter
ROUTER_URL: inference-router
RETRIEVAL_URL: retrieval-worker
PAYMENTS_URL: x402-payments
MEDIA_JOBS_URL: media-worker
GATEWAY_URL: api-gateway
{{- end }}

{{/*
The key of each token in the Secret of tokens. A service's token opens only that service; the internal token opens those without one.
During a rotation each token has a second one.
*/}}
{{- define "platform.tokenKeys" -}}
SVC_INTERNAL_TOKEN: internal-token
SVC_INTERNAL_TOKEN_SECOND: internal-token-second
GATEWAY_TOKEN: api-gateway-token
GATEWAY_TOKEN_SECOND: api-gateway-token-second
LEDGER_TOKEN: billing-ledger-token
LEDGER_TOKEN_SECOND: billing-ledger-token-second
LIMITER_TOKEN: rate-limiter-token
LIMITER_TOKEN_SECOND: rate-limiter-token-second
MEDIA_JOBS_TOKEN: media-worker-token
MEDIA_JOBS_TOKEN_SECOND: media-worker-token-second
PAYMENTS_TOKEN: x402-payments-token
PAYMENTS_TOKEN_SECOND: x402-payments-token-second
RETRIEVAL_TOKEN: retrieval-worker-token
RETRIEVAL_TOKEN_SECOND: retrieval-worker-token-second
ROUTER_TOKEN: inference-router-token
ROUTER_TOKEN_SECOND: inference-router-token-second
SVC_OPERATOR_TOKEN: operator-token
SVC_OPERATOR_TOKEN_SECOND: operator-token-second
GATEWAY_WEBHOOK_KEY: webhook-key
GATEWAY_WEBHOOK_KEY_SECOND: webhook-key-second
SVC_METRICS_TOKEN: metrics-token
SVC_METRICS_TOKEN_SECOND: metrics-token-second
{{- end }}

{{- define "platform.secretValue" -}}
valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ .key }} } }
{{- end }}

{{/* The user and the password of PostgreSQL, if they are given apart from the URL. */}}
{{- define "platform.postgresUser" -}}
{{- if and .host (not .url) (not .existingSecret.name) -}}
{{- with .credentials -}}
{{- $user := dict "valueFrom" (dict "secretKeyRef" (dict "name" .secret "key" .usernameKey)) -}}
{{- if .username }}{{ $user = dict "value" .username }}{{ end -}}
{{- $password := dict "valueFrom" (dict "secretKeyRef" (dict "name" (required "postgres.host needs postgres.credentials.secret" .secret) "key" .passwordKey)) -}}
{{ dict "PGUSER" $user "PGPASSWORD" $password | toJson }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Every variable that this chart sets, for (dict "root" $ "name" service "service" values "connections" secret). */}}
{{- define "platform.variables" -}}
{{- $values := .root.Values -}}
{{- $tokens := include "platform.tokensSecret" .root -}}
{{- with .service -}}
HOST: { value: 0.0.0.0 }
{{- with .port }}
PORT: { value: {{ quote . }} }
{{- end }}
{{- with .operatorPort }}
OPERATOR_PORT: { value: {{ quote . }} }
{{- end }}
{{- with .drainSeconds }}
SVC_DRAIN_MS: { value: {{ mul . 1000 | quote }} }
{{- end }}
DATABASE_CONNECTIONS: { value: {{ quote .databaseConnections }} }
# Without internet access, fetching a URL would only time out.
GATEWAY_ATTACHMENT_URLS: { value: '{{ ternary "on" "off" .reachesInternet }}' }
{{- end }}
{{- with $values.proxyProtocol }}
{{- if .enabled }}
GATEWAY_PROXY_LISTEN: { value: {{ quote .port }} }
{{- end }}
{{- end }}
{{- /* A missing token is reported by the process that needs it. */}}
{{- range $variable, $key := include "platform.tokenKeys" .root | fromYaml }}
{{ $variable }}: { valueFrom: { secretKeyRef: { name: {{ $tokens }}, key: {{ $key }}, optional: true } } }
{{- end }}
{{- with $values.telemetry.otlpEndpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: { value: {{ quote . }} }
{{- end }}
{{- if $values.postgres.existingSecret.name }}
DATABASE_URL: { {{ include "platform.secretValue" (dict "secret" $values.postgres.existingSecret.name "key" $values.postgres.existingSecret.key) }} }
{{- else if $values.postgres.url }}
DATABASE_URL: { {{ include "platform.secretValue" (dict "secret" .connections "key" "postgres") }} }
{{- else if $values.postgres.host }}
{{- with $values.postgres }}
DATABASE_URL: { value: "postgres://{{ .host }}:{{ .port }}/{{ .database }}{{ with .parameters }}?{{ . }}{{ end }}" }
{{- end }}
{{- end }}
LEDGER_MIGRATE: { value: 'false' }
{{- if $values.backends.existingSecret }}
ROUTER_SECRETS_DIR: { value: /etc/svc/backends }
{{- end }}
{{- if $values.redis.existingSecret.name }}
REDIS_URL: { {{ include "platform.secretValue" (dict "secret" $values.redis.existingSecret.name "key" $values.redis.existingSecret.key) }} }
{{- else if $values.redis.url }}
REDIS_URL: { {{ include "platform.secretValue" (dict "secret" .connections "key" "redis") }} }
{{- end }}
{{- with $values.kafka.brokers }}
KAFKA_BROKERS: { value: {{ quote . }} }
{{- end }}
KAFKA_TLS: { value: {{ quote $values.kafka.tls }} }
{{- if and $values.kafka.tls (include "platform.authority" $values.kafka) }}
KAFKA_CA_FILE: { value: /etc/svc/kafka/ca.crt }
{{- end }}
{{- if $values.kafka.clientSecret.name }}
KAFKA_CERT_FILE: { value: /etc/svc/kafka-client/tls.crt }
KAFKA_KEY_FILE: { value: /etc/svc/kafka-client/tls.key }
{{- end }}
{{- if or $values.kafka.username (eq $values.kafka.sasl "oauthbearer") }}
KAFKA_SASL: { value: {{ $values.kafka.sasl }} }
{{- end }}
{{- with $values.kafka.oauth }}
{{- if .tokenUrl }}
KAFKA_OAUTH_TOKEN_URL: { value: {{ quote .tokenUrl }} }
{{- end }}
{{- if .scope }}
KAFKA_OAUTH_SCOPE: { value: {{ quote .scope }} }
{{- end }}
{{- if .tokenFile }}
KAFKA_OAUTH_TOKEN_FILE: { value: {{ quote .tokenFile }} }
{{- end }}
{{- end }}
{{- if $values.kafka.username }}
KAFKA_USERNAME: { value: {{ quote $values.kafka.username }} }
{{- if $values.kafka.existingSecret.name }}
KAFKA_PASSWORD: { {{ include "platform.secretValue" (dict "secret" $values.kafka.existingSecret.name "key" $values.kafka.existingSecret.key) }} }
{{- else }}
KAFKA_PASSWORD: { {{ include "platform.secretValue" (dict "secret" .connections "key" "kafka") }} }
{{- end }}
{{- end }}
{{- with $values.kafka.topics }}
KAFKA_PARTITIONS: { value: {{ quote .partitions }} }
KAFKA_REPLICAS: { value: {{ quote .replicas }} }
KAFKA_MIN_INSYNC_REPLICAS: { value: {{ quote .minInSyncReplicas }} }
KAFKA_RETENTION_DAYS: { value: {{ quote .retentionDays }} }
{{- end }}
{{- range $variable, $neighbour := include "platform.neighbours" .root | fromYaml }}
{{- /* Routers need the catalogue of gateways that are not ready for want of a router. Callers of routers choose the pod. */}}
{{- $end := get (dict "GATEWAY_URL" "-unready" "ROUTER_URL" "-pods") $variable }}
{{ $variable }}: { value: "http://{{ include "platform.fullname" $.root }}-{{ $neighbour }}{{ $end }}:{{ (index $values.services $neighbour).port }}" }
{{- end }}
{{- if include "platform.configMap" (dict "root" .root "kind" "catalog") }}
SVC_CATALOG: { value: /etc/svc/catalog/catalog.yaml }
{{- end }}
{{- if include "platform.configMap" (dict "root" .root "kind" "characters") }}
SVC_CHARACTERS: { value: /etc/svc/characters/characters.yaml }
{{- end }}
{{- $public := include "platform.public" .root }}
OPERATOR_URL: { value: "http://{{ include "platform.fullname" .root }}-{{ $public }}:{{ (index $values.services $public).operatorPort }}" }
{{- with include "platform.browserUrl" .root }}
RETRIEVAL_BROWSER_URL: { value: {{ quote . }} }
{{- end }}
{{- with $values.mediaStorage }}
{{- if .bucket }}
MEDIA_S3_URL: { value: {{ required "mediaStorage.bucket needs mediaStorage.url" .url | quote }} }
{{- with .publicUrl }}
MEDIA_S3_PUBLIC_URL: { value: {{ quote . }} }
{{- end }}
MEDIA_S3_BUCKET: { value: {{ quote .bucket }} }
MEDIA_S3_REGION: { value: {{ quote .region }} }
MEDIA_S3_PREFIX: { value: {{ quote .prefix }} }
{{- if not .workloadIdentity }}
{{- $keys := required "mediaStorage.bucket needs mediaStorage.existingSecret.name or mediaStorage.workloadIdentity" .existingSecret.name }}
MEDIA_S3_ACCESS_KEY_ID: { {{ include "platform.secretValue" (dict "secret" $keys "key" .existingSecret.accessKeyId) }} }
MEDIA_S3_SECRET_ACCESS_KEY: { {{ include "platform.secretValue" (dict "secret" $keys "key" .existingSecret.secretAccessKey) }} }
{{- end }}
{{- end }}
{{- end }}
{{- with $values.mail }}
{{- if .host }}
GATEWAY_SMTP_HOST: { value: {{ quote .host }} }
GATEWAY_SMTP_PORT: { value: {{ quote .port }} }
GATEWAY_SMTP_TLS: { value: {{ quote .tls }} }
GATEWAY_SMTP_FROM: { value: {{ required "mail.host needs mail.from" .from | quote }} }
{{- if .username }}
GATEWAY_SMTP_USER: { value: {{ quote .username }} }
{{- $password := required "mail.username needs mail.existingSecret.name" .existingSecret.name }}
GATEWAY_SMTP_PASSWORD: { {{ include "platform.secretValue" (dict "secret" $password "key" .existingSecret.key) }} }
{{- end }}
{{- end }}
{{- end }}
{{- with $values.payments.existingSecret }}
{{- $secret := . }}
{{- range $variable, $key := $.root.Files.Get "files/payments.json" | fromJson }}
{{- if hasSuffix "_FILE" $variable }}
{{ $variable }}: { value: /etc/svc/payments/{{ $key }} }
{{- else }}
{{ $variable }}: { valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ $key }}, optional: true } } }
{{- end }}
{{- end }}
{{- end }}
{{- if and .service .service.persistence.enabled }}
{{- if eq .name "all" }}
SVC_DATA_DIR: { value: /var/lib/svc/data }
{{- else }}
LEDGER_JOURNAL_DIR: { value: /var/lib/svc/journal }
{{- end }}
{{- end }}
{{- end }}

{{/*
Fails if the processes could open more connections to PostgreSQL than it accepts. An upgrade replaces the pods of a Deployment while
the previous ones still drain, so each counts twice. A ledger has one more connection, for its lock. Ten are left to the server
itself, the migration, and people who have to look.
*/}}
{{- define "platform.requireConnections" -}}
{{- $settings := .Files.Get "files/settings.json" | fromJson -}}
{{- $total := 10 -}}
{{- $parts := list -}}
{{- range $name, $service := include "platform.services" . | fromYaml -}}
{{- if has "DATABASE_CONNECTIONS" (index $settings $name).optional -}}
{{- $replicas := ternary $service.autoscaling.max $service.replicas $service.autoscaling.enabled | int -}}
{{- $pods := ternary $replicas (mul 2 $replicas) $service.persistence.enabled -}}
{{- $each := add $service.databaseConnections (ternary 1 0 (eq $name "billing-ledger")) -}}
{{- $total = add $total (mul $pods $each) -}}
{{- $parts = append $parts (printf "%s %d x %d" $name (int $pods) (int $each)) -}}
{{- end -}}
{{- end -}}
{{- if gt (int $total) (int .Values.postgres.maxConnections) -}}
{{- fail (printf "PostgreSQL accepts %d connections (postgres.maxConnections), but up to %d could be opened during an upgrade (10 in reserve; %s): lower replicas, autoscaling.max or databaseConnections of a service, or raise the server's max_connections and this value" (int .Values.postgres.maxConnections) (int $total) (join "; " $parts)) -}}
{{- end -}}
{{- end }}

{{/* The settings with the address of the release's model simulator, if it has one. */}}
{{- define "platform.simulators" -}}
{{- if include "platform.simulates" . -}}
{{- $url := printf "http://%s-model-simulator:4000" (include "platform.fullname" .) -}}
{{ dict "ROUTER_SIMULATOR_URL" (printf "%s/v1" $url) "RETRIEVAL_SIMULATOR_URL" $url | toJson }}
{{- end -}}
{{- end }}

{{/* Whether the release has a model simulator. The single process contains its own. */}}
{{- define "platform.simulates" -}}
{{- if and (eq (include "platform.public" .) "api-gateway") (eq (toString .Values.simulator.enabled) "true") }}true{{ end -}}
{{- end }}

{{/* The URL of the browser, if there is one. */}}
{{- define "platform.browserUrl" -}}
{{- if .Values.browser.enabled }}http://{{ include "platform.fullname" . }}-browser:9222{{ else }}{{ .Values.browser.url }}{{ end -}}
{{- end }}

{{/* Whether a process, for (dict "root" $ "name" service), has a node or a facilitator to settle payments. */}}
{{- define "platform.sells" -}}
{{- $settings := (index .root.Values.services .name | default dict).settings | default dict -}}
{{- $needs := index (.root.Files.Get "files/settings.json" | fromJson) .name | default dict -}}
{{- and (has "X402_FACILITATOR_URL" ($needs.optional | default list)) (or .root.Values.payments.existingSecret $settings.X402_FACILITATOR_URL | not | not) -}}
{{- end }}

{{/* The source of a volume with `ca.crt`, from the `caSecret` or `caConfigMap` of these values, if one is set. */}}
{{- define "platform.authority" -}}
{{- if .caSecret.name -}}
secret: { secretName: {{ .caSecret.name }}, items: [{ key: {{ .caSecret.key }}, path: ca.crt }] }
{{- else if .caConfigMap.name -}}
configMap: { name: {{ .caConfigMap.name }}, items: [{ key: {{ .caConfigMap.key }}, path: ca.crt }] }
{{- end -}}
{{- end }}

{{/* The files that a process reads from Secrets and ConfigMaps: sources of volumes by name, for (dict "root" $ "name" process). */}}
{{- define "platform.files" -}}
{{- $known := index (.root.Files.Get "files/settings.json" | fromJson) .name -}}
{{- $settings := concat $known.needed $known.optional -}}
{{- $values := .root.Values -}}
{{- if and $values.payments.existingSecret (has "X402_FACILITATOR_URL" $settings) }}
payments: { secret: { secretName: {{ $values.payments.existingSecret }} } }
{{- end }}
{{- if and $values.backends.existingSecret (has "ROUTER_SECRETS_DIR" $settings) }}
backends: { secret: { secretName: {{ $values.backends.existingSecret }} } }
{{- end }}
{{- with include "platform.authority" $values.tls | fromYaml }}
ca: {{ toJson . }}
{{- end }}
{{- with and (has "DATABASE_URL" $settings) (include "platform.authority" $values.postgres | fromYaml) }}
postgres: {{ toJson . }}
{{- end }}
{{- with and $values.kafka.tls (has "KAFKA_CA_FILE" $settings) (include "platform.authority" $values.kafka | fromYaml) }}
kafka: {{ toJson . }}
{{- end }}
{{- with $values.kafka.clientSecret }}
{{- if and .name (has "KAFKA_CERT_FILE" $settings) }}
kafka-client: { secret: { secretName: {{ .name }}, items: [{ key: {{ .certificate }}, path: tls.crt }, { key: {{ .key }}, path: tls.key }] } }
{{- end }}
{{- end }}
{{- end }}

{{/* The ConfigMap with the catalogue or the characters, if there is one. */}}
{{- define "platform.configMap" -}}
{{- with index .root.Values .kind -}}
{{- if .existingConfigMap }}{{ .existingConfigMap }}{{ else if or .content (eq $.kind "catalog") }}{{ include "platform.fullname" $.root }}-{{ $.kind }}{{ end -}}
{{- end -}}
{{- end }}

{{/* The environment of a process, as a list. */}}
{{- define "platform.env" -}}
{{- $known := index (.root.Files.Get "files/settings.json" | fromJson) .name -}}
{{- $entries := dict -}}
{{- range $variable, $entry := include "platform.variables" . | fromYaml -}}
{{- if or (has $variable $known.needed) (has $variable $known.optional) }}{{ $_ := set $entries $variable $entry }}{{ end -}}
{{- end -}}
{{- /* The address of an optional service is omitted if the service is disabled. */ -}}
{{- $services := include "platform.services" .root | fromYaml -}}
{{- range $variable, $neighbour := include "platform.neighbours" .root | fromYaml -}}
{{- if and (has $variable $known.optional) (not (hasKey $services $neighbour)) }}{{ $_ := unset $entries $variable }}{{ end -}}
{{- end -}}
{{- with .service -}}
{{- range $variable, $value := .settings -}}
{{- /* Large integers are written without an exponent. */ -}}
{{- if kindIs "float64" $value }}{{ if eq $value (floor $value) }}{{ $value = int64 $value }}{{ end }}{{ end -}}
{{- $_ := set $entries $variable (dict "value" (toString $value)) -}}
{{- end -}}
{{- end -}}
{{- range $variable, $url := include "platform.simulators" .root | fromYaml -}}
{{- if and (has $variable $known.optional) (not (hasKey $entries $variable)) }}{{ $_ := set $entries $variable (dict "value" $url) }}{{ end -}}
{{- end -}}
{{- if include "platform.authority" .root.Values.tls }}{{ $_ := set $entries "NODE_EXTRA_CA_CERTS" (dict "value" "/etc/svc/ca/ca.crt") }}{{ end -}}
{{- /* Read by the client of PostgreSQL where the URL has no user, so that a password may have any characters. */ -}}
{{- with and (hasKey $entries "DATABASE_URL") (include "platform.postgresUser" .root.Values.postgres | fromYaml) }}{{ $_ := merge $entries . }}{{ end -}}
{{- $from := dict "DATABASE_URL" "postgres" "REDIS_URL" "redis" -}}
{{- range $variable := $known.needed -}}
{{- if not (hasKey $entries $variable) -}}
{{- with get $from $variable -}}
{{- fail (printf "%s needs %s: set %s.url or %s.existingSecret.name" $.name $variable . .) -}}
{{- end -}}
{{- fail (printf "%s needs %s%s" $.name $variable (ternary ": set kafka.brokers" "" (eq $variable "KAFKA_BROKERS"))) -}}
{{- end -}}
{{- end -}}
{{- range $variable, $entry := $entries }}
- {{ merge (dict "name" $variable) $entry | toJson }}
{{- end -}}
{{- end }}
