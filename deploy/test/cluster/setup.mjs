// Builds Kubernetes and Helm before the tests that run on them.
export { buildControlPlane as setup } from '../tools.mjs';
