/**
 * The attributes that the conventions for generative AI require on every metric and every span of a model
 * call. The provider is this platform: a backend's vendor is unknown, and `svc.backend` names the backend.
 */
export const genAi = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'svc' } as const;
