import { Body, Controller, Param, Req, Res } from '@nestjs/common';
import {
  type ConsoleChallenge,
  ConsoleChallengeRequest,
  ConsoleProof,
  type ConsoleSession,
  type ConsoleSessionEnded,
  type ConsoleSessionList,
  type ConsoleSessionReply,
  type CurrentConsoleSession,
} from '@svc/api/console';
import { routes } from '@svc/api';
import { MINUTE_MS } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { NO_SESSION_COOKIE, type StoredSession, sessionCookie, tokenOf } from '@svc/identity/console';
import { NetworkLimit } from '@svc/paid/limits';
import { Serves, networkOf } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SessionOf } from './session-of.js';
import { SignIns } from './sign-ins.js';

/** Failed sign-ins of a network, and sign-in messages for it. */
const SIGN_INS = { resource: '/console/api/session', bound: { max: 10, windowMs: 5 * MINUTE_MS } };
const CHALLENGES = { max: 20, windowMs: MINUTE_MS };

/** Begins, shows and ends the sessions of the console. */
@Controller()
export class ConsoleController {
  constructor(
    private readonly signIns: SignIns,
    private readonly limit: NetworkLimit,
  ) {}

  @Serves(routes.challengeForConsole)
  async challenge(
    @Req() request: FastifyRequest,
    @Body() { address }: ConsoleChallengeRequest,
  ): Promise<ConsoleChallenge> {
    await this.limit.take(request, routes.challengeForConsole.path, CHALLENGES);
    return this.signIns.challenge(address, request);
  }

  /** A session that the browser had ends, so that no secret from before the sign-in has its power. */
  @Serves(routes.signInToConsole)
  async signIn(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() proof: ConsoleProof,
  ): Promise<ConsoleSessionReply> {
    const client = { network: networkOf(request.ip), agent: agentOf(request) };
    const { token, session } = await this.limit.attempt(request, SIGN_INS, () =>
      this.signIns.begin(proof, request, client),
    );
    if (request.session) await this.signIns.end(request.session, request.session.id);
    void reply.header('set-cookie', sessionCookie(token));
    return { data: sessionView(session, session) };
  }

  @Serves(routes.consoleSession)
  session(@Req() request: FastifyRequest): CurrentConsoleSession {
    const { session } = request;
    if (session) return { data: sessionView(session, session) };
    if (tokenOf(request) === undefined) return { data: null };
    throw new Problem('AUTHENTICATION_FAILED');
  }

  @Serves(routes.proveConsoleSession)
  async prove(
    @SessionOf() session: StoredSession,
    @Req() request: FastifyRequest,
    @Body() proof: ConsoleProof,
  ): Promise<ConsoleSessionReply> {
    const provenAt = await this.limit.attempt(request, SIGN_INS, () =>
      this.signIns.prove(session, proof, request),
    );
    return { data: sessionView({ ...session, provenAt }, session) };
  }

  @Serves(routes.signOutOfConsole)
  async signOut(
    @SessionOf() session: StoredSession,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConsoleSessionEnded> {
    await this.signIns.end(session, session.id);
    void reply.headers({ 'set-cookie': NO_SESSION_COOKIE, 'clear-site-data': '"cache", "storage"' });
    return { success: true };
  }

  @Serves(routes.consoleSessions)
  async list(@SessionOf() session: StoredSession): Promise<ConsoleSessionList> {
    const sessions = await this.signIns.beside(session);
    return { object: 'list', data: sessions.map((each) => sessionView(each, session)) };
  }

  @Serves(routes.endConsoleSession)
  async end(
    @SessionOf() session: StoredSession,
    @Param() { id }: { id: string },
  ): Promise<ConsoleSessionEnded> {
    if (!(await this.signIns.end(session, id)))
      throw new Problem('NOT_FOUND', { message: 'There is no open session with this id.', param: 'id' });
    return { success: true };
  }

  @Serves(routes.endOtherConsoleSessions)
  async endOthers(@SessionOf() session: StoredSession): Promise<ConsoleSessionEnded> {
    await this.signIns.endOthers(session);
    return { success: true };
  }
}

const AGENT_CHARACTERS = 200;

/** How the browser names itself, without characters that nobody can read. */
function agentOf({ headers }: FastifyRequest): string {
  return (headers['user-agent'] ?? '').replaceAll(/[^ -~]/g, '?').slice(0, AGENT_CHARACTERS);
}

function sessionView(session: StoredSession, current: StoredSession): ConsoleSession {
  const { id, kind, accountId, key, wallet = null, network, agent } = session;
  return {
    id,
    kind,
    accountId,
    apiKey: key ? { id: key.id, last6Chars: key.last6, description: key.description } : null,
    wallet,
    createdAt: session.createdAt.toISOString(),
    lastSeenAt: session.seenAt.toISOString(),
    expiresAt: session.expiresAt.toISOString(),
    provenAt: session.provenAt.toISOString(),
    network,
    agent,
    isCurrent: id === current.id,
  };
}
