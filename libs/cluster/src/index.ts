export { Balancer, type BalancerTarget } from './balancer.js';
export { Cluster, type ClusterOptions } from './cluster.js';
export {
  KINDS,
  type Kind,
  type ReplicaCounts,
  type SharedSettings,
  internalTokens,
  kinds,
  parseReplicas,
  tokenVariableOf,
} from './kinds.js';
export { ReplicaProcess } from './replica-process.js';
