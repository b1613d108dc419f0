import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DetachedServer, type Program } from './detached-server.js';
import { findJava } from './java.js';
import { findKafka } from './kafka-download.js';
import { freePort } from '@svc/storage';
import { responds } from './ports.js';
import { ownPassword } from './private-files.js';
import type { ServerEnvironment } from './server.js';

/** The only user of a broker with a password. */
const USER = 'svc';

/** Kafka's identifiers are 16 bytes as base64url. */
const identifier = (): string => randomBytes(16).toString('base64url');

const JVM = [
  '-Xms64m',
  '-Xmx384m',
  // Starts in half the time, and is fast enough for the few megabytes of a development machine.
  '-XX:TieredStopAtLevel=1',
  '-XX:+UseSerialGC',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
];

/** The position of a broker in a cluster. */
export interface KafkaMember {
  readonly id: number;
  /** The same for all members. */
  readonly clusterId: string;
  /** Each member's ports: for clients, and for the other members. */
  readonly ports: readonly (readonly [port: number, controllerPort: number])[];
}

/** The TLS key and certificate of a broker, as PEM. */
export interface KafkaIdentity {
  readonly key: string;
  readonly cert: string;
}

/** Which tokens of clients a broker accepts. */
export interface KafkaTokens {
  /** The public keys of the issuer (JWKS). */
  readonly keysUrl: string;
  readonly issuer: string;
  readonly audience: string;
  /** A client authenticates again within this time. */
  readonly sessionMs: number;
}

export interface KafkaPlace {
  readonly member?: KafkaMember;
  /** With it, the broker accepts only TLS. */
  readonly identity?: KafkaIdentity;
  /** With it, only clients whose certificates this authority has signed, as PEM. */
  readonly clientAuthority?: string;
  /** With it, only clients with such a token (SASL OAUTHBEARER). */
  readonly tokens?: KafkaTokens;
}

/** A Kafka broker that is its own controller, or one of several that form a quorum. */
export class KafkaServer extends DetachedServer {
  readonly variable = 'KAFKA_BROKERS';
  protected readonly portCount = 2;
  private readonly member: KafkaMember | undefined;
  private readonly identity: KafkaIdentity | undefined;
  private readonly clientAuthority: string | undefined;
  private readonly tokens: KafkaTokens | undefined;

  constructor(
    folder: string,
    env: ServerEnvironment,
    { member, identity, clientAuthority, tokens }: KafkaPlace = {},
  ) {
    super(folder, env);
    this.member = member;
    this.identity = identity;
    this.clientAuthority = clientAuthority;
    this.tokens = tokens;
  }

  protected async program(ports: readonly number[]): Promise<Program> {
    const [java, jars] = await Promise.all([findJava(this.env), findKafka(this.env)]);
    const data = join(this.folder, 'data');
    const properties = join(this.folder, 'server.properties');
    const member = this.member ?? {
      id: 1,
      clusterId: identifier(),
      ports: [[ports[0] ?? 0, ports[1] ?? 0]],
    };
    await this.format(data, member);
    const settings = {
      ...propertiesOf(member, data),
      ...(await this.login(member)),
      ...(await this.tls(member)),
      ...(await this.tokenLogin(member)),
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(properties, lines.join(''), { mode: 0o600 });
    return {
      command: java,
      args: [...JVM, ...this.allowedUrls, '-cp', `${jars}/*`, 'kafka.Kafka', properties],
    };
  }

  protected addressOf([port]: readonly number[]): string {
    return `127.0.0.1:${port}`;
  }

  protected async isReady([port]: readonly number[], log: string): Promise<boolean> {
    return log.includes('Kafka Server started') && (await responds(port ?? 0));
  }

  /** Members find each other by predetermined ports. */
  protected override get fixedPorts(): readonly number[] | undefined {
    return this.member?.ports[this.member.id - 1];
  }

  override async credentials(): Promise<Readonly<Record<string, string>>> {
    if (!this.asksPassword) return {};
    return { KAFKA_USERNAME: USER, KAFKA_PASSWORD: await ownPassword(this.folder), KAFKA_SASL: 'plain' };
  }

  /** Brokers with several members or with TLS are for tests, and open to any user of this machine. */
  private get asksPassword(): boolean {
    return !this.member && !this.identity && !this.tokens;
  }

  /** A broker reads keys only from addresses that its start allows. */
  private get allowedUrls(): string[] {
    const property = '-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls';
    return this.tokens ? [`${property}=${this.tokens.keysUrl}`] : [];
  }

  /** Settings that require a password on both ports. */
  private async login({ id, ports }: KafkaMember): Promise<Record<string, string>> {
    if (!this.asksPassword) return {};
    const [port, controllerPort] = ports[id - 1] ?? [];
    const password = await ownPassword(this.folder);
    const module = 'org.apache.kafka.common.security.plain.PlainLoginModule';
    const login = `${module} required username="${USER}" password="${password}" user_${USER}="${password}";`;
    return {
      listeners: `CLIENT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
      'advertised.listeners': `CLIENT://127.0.0.1:${port}`,
      'listener.security.protocol.map': 'CLIENT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT',
      'inter.broker.listener.name': 'CLIENT',
      'sasl.enabled.mechanisms': 'PLAIN',
      'sasl.mechanism.inter.broker.protocol': 'PLAIN',
      'sasl.mechanism.controller.protocol': 'PLAIN',
      'listener.name.client.plain.sasl.jaas.config': login,
      'listener.name.controller.plain.sasl.jaas.config': login,
    };
  }

  /** Settings that require a token on the clients' port. The broker reaches itself on another one. */
  private async tokenLogin({ id, ports }: KafkaMember): Promise<Record<string, string | number>> {
    if (!this.tokens) return {};
    const { keysUrl, issuer, audience, sessionMs } = this.tokens;
    const [port, controllerPort] = ports[id - 1] ?? [];
    const own = `INTERNAL://127.0.0.1:${await freePort()}`;
    const clients = `CLIENT://127.0.0.1:${port}`;
    const security = 'org.apache.kafka.common.security.oauthbearer';
    return {
      listeners: `${clients},${own},CONTROLLER://127.0.0.1:${controllerPort}`,
      'advertised.listeners': `${clients},${own}`,
      'listener.security.protocol.map': 'CLIENT:SASL_PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'inter.broker.listener.name': 'INTERNAL',
      'sasl.enabled.mechanisms': 'OAUTHBEARER',
      'listener.name.client.oauthbearer.sasl.jaas.config': `${security}.OAuthBearerLoginModule required;`,
      'listener.name.client.oauthbearer.sasl.server.callback.handler.class': `${security}.OAuthBearerValidatorCallbackHandler`,
      'sasl.oauthbearer.jwks.endpoint.url': keysUrl,
      'sasl.oauthbearer.expected.issuer': issuer,
      'sasl.oauthbearer.expected.audience': audience,
      'connections.max.reauth.ms': sessionMs,
    };
  }

  /** Settings that require TLS on the clients' port. */
  private async tls({ id, ports }: KafkaMember): Promise<Record<string, string>> {
    if (!this.identity) return {};
    const { key, cert } = this.identity;
    const [store, authorities] = [join(this.folder, 'store.pem'), join(this.folder, 'authorities.pem')];
    await Promise.all([
      writeFile(store, `${key}\n${cert}\n`, { mode: 0o600 }),
      writeFile(authorities, `${cert}\n${this.clientAuthority ?? ''}`),
    ]);
    const [port, controllerPort] = ports[id - 1] ?? [];
    return {
      listeners: `SSL://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
      'advertised.listeners': `SSL://127.0.0.1:${port}`,
      'listener.security.protocol.map': 'SSL:SSL,CONTROLLER:PLAINTEXT',
      'inter.broker.listener.name': 'SSL',
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': store,
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.location': authorities,
      'ssl.client.auth': this.clientAuthority === undefined ? 'none' : 'required',
    };
  }

  /** Writes what Kafka's storage tool would write into a new folder, which saves a start of Java. */
  private async format(data: string, { id, clusterId }: KafkaMember): Promise<void> {
    await mkdir(data, { recursive: true });
    const lines = [
      'version=1',
      `cluster.id=${clusterId}`,
      `directory.id=${identifier()}`,
      `node.id=${id}`,
      '',
    ];
    await writeFile(join(data, 'meta.properties'), lines.join('\n'), { flag: 'wx' }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
  }
}

/** A cluster of brokers in a folder, not started yet. They become ready only when a majority runs. */
export async function kafkaBrokers(
  folder: string,
  count: number,
  env: ServerEnvironment,
): Promise<KafkaServer[]> {
  const ports: [number, number][] = [];
  for (let index = 0; index < count; index += 1) ports.push([await freePort(), await freePort()]);
  const clusterId = identifier();
  return ports.map(
    (_, index) =>
      new KafkaServer(join(folder, `kafka-${index + 1}`), env, {
        member: { id: index + 1, clusterId, ports },
      }),
  );
}

function propertiesOf({ id, ports }: KafkaMember, data: string): Record<string, string | number> {
  const [port, controllerPort] = ports[id - 1] ?? [];
  const copies = Math.min(ports.length, 3);
  const inSync = Math.min(copies, 2);
  return {
    'process.roles': 'broker,controller',
    'node.id': id,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.quorum.voters': ports.map(([, other], index) => `${index + 1}@127.0.0.1:${other}`).join(','),
    'log.dirs': data,
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': copies,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': inSync,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': copies,
    'share.coordinator.state.topic.min.isr': inSync,
    // No wait for further group members, and a killed member is detected soon.
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    // After `kill -9` a start waits until the node's previous registration has expired.
    'broker.session.timeout.ms': 2_000,
    'broker.heartbeat.interval.ms': 500,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'background.threads': 2,
    // The default of 128 MB is a third of the heap.
    'log.cleaner.dedupe.buffer.size': 2_097_152,
  };
}
