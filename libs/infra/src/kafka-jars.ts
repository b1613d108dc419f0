/** The version of the broker. The platform's producers and consumers are tested against it. */
export const KAFKA_VERSION = '4.3.1';

/**
 * The jars that a broker loads to serve topics, groups and transactions: Maven's `group:artifact:version`,
 * with the SHA-256 of the jar. All other dependencies in the broker's POM are left out.
 */
export const KAFKA_JARS: readonly (readonly [coordinates: string, sha256: string])[] = [
  ['org.apache.kafka:kafka_2.13:4.3.1', 'b098abef5ff878e76f60cd6c559b9baa5663ccb1b55f2837558b22c329d32423'],
  ['org.apache.kafka:kafka-server:4.3.1', '01d736599ec3b0cdbb0480c15219170b28cdae189785e7f0c6f1f26e528eaebc'],
  [
    'org.apache.kafka:kafka-clients:4.3.1',
    '52501b7b47510c66f898871adaf6d2968ab7246561d44ced43643a8a587f0b36',
  ],
  [
    'org.apache.kafka:kafka-storage:4.3.1',
    '97e3facddd2914a58f28ec91ef35f8da69963eab3651196e97f487924f6dac98',
  ],
  [
    'org.apache.kafka:kafka-storage-api:4.3.1',
    'bc2b22639fa554494461d101d599e01bae840d97c4f46e18fdf3d2fe41a47098',
  ],
  [
    'org.apache.kafka:kafka-server-common:4.3.1',
    'd7c719f749579a399011f0df7414de8a78f10f074a6122caa550fdb141351575',
  ],
  ['org.apache.kafka:kafka-raft:4.3.1', '46abbf89806dd22d848e997cdfb1431524cab4ec88e38a7d2806e20b24a70609'],
  [
    'org.apache.kafka:kafka-metadata:4.3.1',
    '4d73a96c6474a4ebdd67a1cee14da1a94cfd6bb9e6e252685ba5667d8ab7f898',
  ],
  [
    'org.apache.kafka:kafka-group-coordinator:4.3.1',
    '4ab56d002e1624185c874199e9e0ffb243dbeb9f68b4d0cadf48ce2f617a1126',
  ],
  [
    'org.apache.kafka:kafka-group-coordinator-api:4.3.1',
    'd81bc1a3739ff6c9b21815baae00022306342a16d3d94e6a2621201b9980a30d',
  ],
  [
    'org.apache.kafka:kafka-coordinator-common:4.3.1',
    '66a86b8c89718216ffa72fe4e44b9d1bdf3472e4cb9200c36a0742a25febbdba',
  ],
  [
    'org.apache.kafka:kafka-share-coordinator:4.3.1',
    '8ceeed7346127e652ea5c650b217890aaff14919f967d27fadce420745bd3066',
  ],
  [
    'org.apache.kafka:kafka-transaction-coordinator:4.3.1',
    'c64aaa2a88d8fd382c4800204872917686e542043c7916c9e8797d939d8eb313',
  ],
  [
    'org.scala-lang:scala-library:2.13.18',
    '4e85d96ff7bc7dc627985523c3541b9917aaa08e956391380c42db21a2c4e5a0',
  ],
  [
    'com.typesafe.scala-logging:scala-logging_2.13:3.9.6',
    '0ad0c3f4d89d538b3b6c300158555e266aa69cf1b5f6522aba8b5bad238eb994',
  ],
  [
    'net.sf.jopt-simple:jopt-simple:5.0.4',
    'df26cc58f235f477db07f753ba5a3ab243ebe5789d9f89ecf68dd62ea9a66c28',
  ],
  ['org.slf4j:slf4j-api:1.7.36', 'd3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0'],
  ['org.slf4j:slf4j-simple:1.7.36', '2f39bed943d624dfa8f4102d0571283a10870b6aa36f197a8a506f147010c10f'],
  [
    'org.apache.logging.log4j:log4j-api:2.25.4',
    'c4b642a7f047275215de117e0e3847eb2c7711d84a0aa7433e7b3c096daf341d',
  ],
  [
    'org.apache.logging.log4j:log4j-core:2.25.4',
    '10fee2c0485d54fa44ee75d314f6295508f7b932281873db61a91b88073200e6',
  ],
  [
    'com.fasterxml.jackson.core:jackson-core:2.21.2',
    '12e8655b100267b44d0f14d01b1f5082a5105e616174dc4307be1a761e92407b',
  ],
  [
    'com.fasterxml.jackson.core:jackson-databind:2.21.2',
    '8c982f01f148d805f0aaac2339011244757e0df7c6ff8951f2fa3f433b8ed849',
  ],
  [
    'com.fasterxml.jackson.core:jackson-annotations:2.21',
    '53ca085f4a150f703f49e1aabd935bd03b43e1ea3d55d135438292af22cef56b',
  ],
  [
    'com.fasterxml.jackson.dataformat:jackson-dataformat-yaml:2.21.2',
    'd25551812fa0c14f37cabaa9401e63eadcea42ce36311183af5622d5bc8a1bc7',
  ],
  [
    'commons-validator:commons-validator:1.10.1',
    'ed74711a78d793ca37f6075e4a1e93d107233dfd20d0bb17e32bad88d38e56aa',
  ],
  [
    'com.yammer.metrics:metrics-core:2.2.0',
    '6b7a14a6f34c10f8683f7b5e2f39df0f07b58c7dff0e468ebbc713905c46979c',
  ],
  // Verifies tokens of clients.
  ['org.bitbucket.b_c:jose4j:0.9.6', '7314af50cde9c99e8eaf43eee617a23edcc6bb43036221064355094999d837ef'],
  ['org.pcollections:pcollections:4.0.2', '2bbeef5797a241300c4f7513cd546239629ed7deda4fc0c31df90bb95f5f13ef'],
  ['org.hdrhistogram:HdrHistogram:2.2.2', '22d1d4316c4ec13a68b559e98c8256d69071593731da96136640f864fa14fad8'],
  ['com.google.re2j:re2j:1.8', '7b52c72156dd7f98b3237a5b35c1d34fba381b21048c89208913ad80a45dfbd7'],
];
