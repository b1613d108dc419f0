{{/* The autoscaler of a service: by CPU time only, or by KEDA. For (dict "root" $ "name" service "service" values). */}}

{{- define "platform.scaleTarget" -}}
apiVersion: apps/v1
kind: {{ ternary "StatefulSet" "Deployment" .service.persistence.enabled }}
name: {{ include "platform.fullname" .root }}-{{ .name }}
{{- end }}

{{/* Scales up at once, and down slowly: a stopping pod cuts off its long streams. */}}
{{- define "platform.scaling" -}}
scaleUp:
  stabilizationWindowSeconds: 0
  policies: [{ type: Percent, value: 100, periodSeconds: 30 }]
scaleDown:
  stabilizationWindowSeconds: 300
  policies: [{ type: Pods, value: 1, periodSeconds: 120 }]
{{- end }}

{{- define "platform.scaler" -}}
{{- $scaling := .service.autoscaling -}}
{{- $keda := .root.Values.keda }}
---
{{- if or $scaling.activeRequests $scaling.streams $scaling.kafkaLag $scaling.queuedJobs $scaling.triggers }}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  {{- include "platform.metadata" . | nindent 2 }}
spec:
  scaleTargetRef: {{ include "platform.scaleTarget" . | fromYaml | toJson }}
  minReplicaCount: {{ $scaling.min }}
  maxReplicaCount: {{ $scaling.max }}
  pollingInterval: 15
  advanced:
    horizontalPodAutoscalerConfig:
      behavior: {{ include "platform.scaling" . | fromYaml | toJson }}
  {{- /* Keeps the replicas if the metrics can't be read. The first trigger needs only the cluster. */}}
  triggers:
    - type: cpu
      metricType: Utilization
      metadata: { value: {{ quote $scaling.cpuPercent }} }
    {{- with $scaling.activeRequests }}
    - type: prometheus
      metadata:
        serverAddress: {{ required (printf "services.%s.autoscaling.activeRequests needs keda.prometheusUrl" $.name) $keda.prometheusUrl }}
        query: sum(http_server_active_requests{namespace="{{ $.root.Release.Namespace }}",job="{{ include "platform.fullname" $.root }}-{{ $.name }}"})
        threshold: {{ quote . }}
    {{- end }}
    {{- with $scaling.streams }}
    - type: prometheus
      metadata:
        serverAddress: {{ required (printf "services.%s.autoscaling.streams needs keda.prometheusUrl" $.name) $keda.prometheusUrl }}
        query: sum(svc_gateway_streams{namespace="{{ $.root.Release.Namespace }}",job="{{ include "platform.fullname" $.root }}-{{ $.name }}"})
        threshold: {{ quote . }}
    {{- end }}
    {{- with $scaling.queuedJobs }}
    - type: prometheus
      metadata:
        serverAddress: {{ required (printf "services.%s.autoscaling.queuedJobs needs keda.prometheusUrl" $.name) $keda.prometheusUrl }}
        {{- /* Each process reports the whole queue. */}}
        query: sum(max by (svc_queue) (svc_jobs_count{namespace="{{ $.root.Release.Namespace }}",job="{{ include "platform.fullname" $.root }}-{{ $.name }}",svc_job_state="waiting"}))
        threshold: {{ quote . }}
    {{- end }}
    {{- with $scaling.kafkaLag }}
    - type: kafka
      metadata:
        bootstrapServers: {{ quote $.root.Values.kafka.brokers }}
        consumerGroup: ledger.usage.recorded.v1
        topic: usage.recorded.v1
        lagThreshold: {{ quote . }}
      {{- with $keda.kafkaAuthentication }}
      authenticationRef: { name: {{ . }} }
      {{- end }}
    {{- end }}
    {{- range $scaling.triggers }}
    - {{ toJson . }}
    {{- end }}
{{- else }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "platform.metadata" . | nindent 2 }}
spec:
  scaleTargetRef: {{ include "platform.scaleTarget" . | fromYaml | toJson }}
  minReplicas: {{ $scaling.min }}
  maxReplicas: {{ $scaling.max }}
  metrics:
    - type: Resource
      resource: { name: cpu, target: { type: Utilization, averageUtilization: {{ $scaling.cpuPercent }} } }
  behavior: {{ include "platform.scaling" . | fromYaml | toJson }}
{{- end }}
{{- end }}
