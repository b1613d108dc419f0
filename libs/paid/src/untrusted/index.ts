export { fence, type Fence, label, randomCode } from './fence.js';
export { neutralised } from './untrusted-text.js';
