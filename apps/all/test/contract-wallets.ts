import { randomBytes } from 'node:crypto';
import type { LocalChain } from '@svc/infra';
import { concatHex, getContractAddress, serializeErc6492Signature, size } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type TestWallet, base64, challengeOf } from './wallets.js';

type Hex = `0x${string}`;

/**
 * The code of the smallest wallet that is a contract: EIP-1271, for the signatures of the owner whose address
 * is in its first slot. Compiled by solc 0.8.37 (optimizer, 200 runs, cancun) from
 *
 *     contract Wallet {
 *       address public owner;
 *       function isValidSignature(bytes32 hash, bytes memory signature) external view returns (bytes4) {
 *         if (signature.length != 65) return 0xffffffff;
 *         bytes32 r; bytes32 s; uint8 v;
 *         assembly {
 *           r := mload(add(signature, 32))
 *           s := mload(add(signature, 64))
 *           v := byte(0, mload(add(signature, 96)))
 *         }
 *         return ecrecover(hash, v, r, s) == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
 *       }
 *     }
 */
const WALLET_CODE = [
  '0x608060405234801561000f575f5ffd5b5060043610610034575f3560e01c80631626ba7e146100385780638da5cb5b1461',
  '0069575b5f5ffd5b61004b610046366004610168565b610093565b6040516001600160e01b031990911681526020015b6040',
  '5180910390f35b5f5461007b906001600160a01b031681565b6040516001600160a01b039091168152602001610060565b5f',
  '81516041146100ac57506001600160e01b031961014e565b6020828101516040808501516060808701515f80548551828152',
  '9788018087528b905291901a93860184905290850184905260808501829052929390926001600160a01b03169060019060a0',
  '016020604051602081039080840390855afa158015610119573d5f5f3e3d5ffd5b505050602060405103516001600160a01b',
  '03161461013f576001600160e01b0319610148565b630b135d3f60e11b5b93505050505b92915050565b634e487b7160e01b',
  '5f52604160045260245ffd5b5f5f60408385031215610179575f5ffd5b82359150602083013567ffffffffffffffff811115',
  '610196575f5ffd5b8301601f810185136101a6575f5ffd5b803567ffffffffffffffff8111156101c0576101c0610154565b',
  '604051601f8201601f19908116603f0116810167ffffffffffffffff811182821017156101ef576101ef610154565b604052',
  '818152828201602001871015610206575f5ffd5b816020840160208301375f60208383010152809350505050925092905056',
  'fea2646970667358221220352d7a38e8cb2a934494d26a487e3f0576c3786f1a937a446661f2bafb121b6c64736f6c634300',
  '08250033',
].join('');

/** The storage slot with the address whose signatures the contract accepts. */
const OWNER = '0x0';

/** The address of a new contract wallet that accepts the signatures of its owner. */
export async function contractOf(chain: LocalChain, owner: string): Promise<string> {
  const { address } = privateKeyToAccount(generatePrivateKey());
  const slot = `0x${owner.slice(2).toLowerCase().padStart(64, '0')}`;
  await chain.call('anvil_setCode', [address, WALLET_CODE]);
  await chain.call('anvil_setStorageAt', [address, OWNER, slot]);
  return address;
}

/** Deploys code to a deterministic address; its input is a salt and the code. It exists on every chain. */
const FACTORY = '0x4e59b44847b379578588920ca78fbf26c0b4956c';

/**
 * Init code of the wallet: PUSH20 owner, PUSH0, SSTORE; then copies its code from after these 33 bytes,
 * and returns it.
 */
function deploying(owner: string): Hex {
  const code = WALLET_CODE as Hex;
  const length = size(code).toString(16).padStart(4, '0');
  return concatHex(['0x73', owner as Hex, `0x5f5561${length}8060215f395ff3`, code]);
}

/** A contract wallet that is not deployed yet, and its deployment data. */
export interface Undeployed {
  readonly address: string;
  /** Lets another account deploy it. */
  deploy(): Promise<void>;
  /** Its signature: that of its signer, with the deployment data. Source: EIP-6492. */
  wrap(signature: string): string;
}

/** A wallet that accepts the signatures of its owner once it is deployed. */
export function undeployedOf(chain: LocalChain, owner: string): Undeployed {
  const salt: Hex = `0x${randomBytes(32).toString('hex')}`;
  const bytecode = deploying(owner);
  const data = concatHex([salt, bytecode]);
  return {
    address: getContractAddress({ opcode: 'CREATE2', from: FACTORY, salt, bytecode }),
    deploy: async () => {
      const [from] = (await chain.call('eth_accounts', [])) as string[];
      await chain.call('eth_sendTransaction', [{ from, to: FACTORY, data }]);
      await chain.call('evm_mine', []);
    },
    wrap: (signature) => serializeErc6492Signature({ address: FACTORY, data, signature: signature as Hex }),
  };
}

/** The header by which a contract signs in to the service at a URL, with the given signer. */
export async function contractSignIn(
  url: string,
  { address, wrap = (signature) => signature }: Pick<Undeployed, 'address'> & Partial<Undeployed>,
  signer: TestWallet,
): Promise<string> {
  const { info } = challengeOf(url);
  const message = `${info.domain} wants you to sign in with your Ethereum account:\n${address}\n\n\nURI: ${info.uri}
Version: 1\nChain ID: 8453\nNonce: ${info.nonce}\nIssued At: ${info.issuedAt}`;
  return base64({ address, message, signature: wrap(await signer.signMessage(message)), type: 'eip1271' });
}
