// What tests of other libraries need of the path from a backend's response to a client.
export { InternalTool } from '../src/output/internal-tool.js';
export { type OutputHold, OutputRelay } from '../src/output/output-relay.js';
export { OpenAiOutput } from './openai-output.js';
