// Builds Kubernetes before the tests that run on it.
export { buildControlPlane as setup } from '../tools.mjs';
