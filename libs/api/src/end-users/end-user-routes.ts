import { EndUserLimits, EndUserLimitsReply, EndUserParams, ForgottenUser } from './end-users.js';
import type { RouteDefinition } from '../route/route-definition.js';

/** What an account allows its own users. */
export const endUserRoutes = {
  getEndUserLimits: {
    method: 'GET',
    path: '/api/v1/end_users/:user/limits',
    operationId: 'getEndUserLimits',
    tag: 'End users',
    summary: 'Shows the limits of an end user, or with `*` those of each one without limits of its own',
    description: `Needs an ADMIN key. End users are those that requests name by \`user\`, \`safety_identifier\` or \`metadata.user_id\`.`,
    access: 'admin',
    status: 200,
    params: EndUserParams,
    reply: EndUserLimitsReply,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST'],
  },
  setEndUserLimits: {
    method: 'PUT',
    path: '/api/v1/end_users/:user/limits',
    operationId: 'setEndUserLimits',
    tag: 'End users',
    summary: 'Limits an end user',
    description: `Needs an ADMIN key. End users are those that requests name by \`user\`, \`safety_identifier\` or \`metadata.user_id\`.
Replaces all limits that it had. \`*\` is each end user without limits of its own. Takes effect everywhere within a second.
The limits are within those of the account and the key.`,
    access: 'admin',
    status: 200,
    params: EndUserParams,
    body: EndUserLimits,
    reply: EndUserLimitsReply,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST'],
  },
  removeEndUserLimits: {
    method: 'DELETE',
    path: '/api/v1/end_users/:user/limits',
    operationId: 'removeEndUserLimits',
    tag: 'End users',
    summary: 'Removes the limits of an end user',
    description: `Needs an ADMIN key. From then on it has those of all others.`,
    access: 'admin',
    status: 200,
    params: EndUserParams,
    reply: EndUserLimitsReply,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST'],
  },
  forgetEndUser: {
    method: 'DELETE',
    path: '/api/v1/end_users/:user',
    operationId: 'forgetEndUser',
    tag: 'End users',
    summary: 'Forgets which requests were those of an end user',
    description: `Needs an ADMIN key. The charges stay, without their end user, and so do its limits.
What it has spent counts no more. Requests under way are charged to it afterwards. It is safe to retry.`,
    access: 'admin',
    status: 200,
    params: EndUserParams,
    reply: ForgottenUser,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST'],
  },
} as const satisfies Record<string, RouteDefinition>;
