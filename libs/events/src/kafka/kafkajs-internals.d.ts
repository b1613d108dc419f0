// Undeclared internals of kafkajs 2.2.4. Its version is pinned, so that these declarations stay correct.

declare module 'kafkajs/src/network/requestQueue/index.js' {
  const RequestQueue: {
    readonly prototype: {
      pending: readonly unknown[];
      /** In milliseconds since the epoch. */
      throttledUntil: number;
      scheduleCheckPendingRequests: () => void;
    };
  };
  export = RequestQueue;
}

declare module 'kafkajs/src/consumer/runner.js' {
  const Runner: {
    readonly prototype: {
      running: boolean;
      fetch: (nodeId: number) => Promise<readonly unknown[]>;
    };
  };
  export = Runner;
}

declare module 'kafkajs/src/consumer/fetchManager.js' {
  import type { Logger } from 'kafkajs';

  const createFetching: (options: {
    logger: Logger;
    getNodeIds: () => readonly number[];
    fetch: (nodeId: number) => Promise<readonly unknown[]>;
    handler: (batch: unknown) => Promise<void>;
  }) => { start(): Promise<void>; stop(): Promise<void> };
  export = createFetching;
}

declare module 'kafkajs/src/network/socketFactory.js' {
  import type { ISocketFactory } from 'kafkajs';

  const createSocketFactory: () => ISocketFactory;
  export = createSocketFactory;
}

declare module 'kafkajs/src/loggers/index.js' {
  import type { Logger, logCreator, logLevel } from 'kafkajs';

  export const createLogger: (options: { level: logLevel; logCreator: logCreator }) => Logger;
}

declare module 'kafkajs/src/cluster/index.js' {
  import type { ISocketFactory, KafkaMessage, Logger, Mechanism, RetryOptions, SASLOptions } from 'kafkajs';

  interface PartitionEnd {
    readonly partition: number;
    readonly offset: string;
  }

  interface FetchedPartition {
    readonly partition: number;
    readonly messages: readonly (KafkaMessage & { readonly isControlRecord?: boolean })[];
  }

  interface FetchBroker {
    fetch(request: {
      maxWaitTime: number;
      minBytes: number;
      maxBytes: number;
      isolationLevel: number;
      topics: readonly {
        topic: string;
        partitions: readonly { partition: number; fetchOffset: string; maxBytes: number }[];
      }[];
    }): Promise<{ readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[] }>;
  }

  class Cluster {
    constructor(options: {
      logger: Logger;
      socketFactory: ISocketFactory;
      brokers: readonly string[];
      clientId: string;
      ssl?: boolean | { readonly ca?: string; readonly cert?: string; readonly key?: string };
      sasl?: SASLOptions | Mechanism;
      connectionTimeout: number;
      authenticationTimeout: number;
      reauthenticationThreshold: number;
      requestTimeout: number;
      enforceRequestTimeout: boolean;
      metadataMaxAge: number;
      allowAutoTopicCreation: boolean;
      isolationLevel: number;
      retry: RetryOptions;
    });
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    addTargetTopic(topic: string): Promise<void>;
    refreshMetadata(): Promise<void>;
    findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
    findLeaderForPartitions(
      topic: string,
      partitions: readonly number[],
    ): Readonly<Record<string, readonly number[]>>;
    findBroker(which: { nodeId: string }): Promise<FetchBroker>;
    fetchTopicsOffset(
      topics: readonly {
        topic: string;
        fromBeginning: boolean;
        partitions: readonly { partition: number }[];
      }[],
    ): Promise<readonly { readonly partitions: readonly PartitionEnd[] }[]>;
  }
  export = Cluster;
}
