/**
 * What the conventions for generative AI require of every metric, and of every span of a call to a model. The provider is
 * this platform: a backend's vendor is not known, and `svc.backend` names the backend.
 */
export const genAi = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'svc' } as const;
