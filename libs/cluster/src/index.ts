export { Balancer, type Target } from './balancer.js';
export { Cluster, type ClusterOptions } from './cluster.js';
export { type Kind, type Replicas, type SharedSettings, parseReplicas } from './kinds.js';
export { ReplicaProcess } from './replica-process.js';
