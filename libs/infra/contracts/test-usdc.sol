// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Minimal USDC-like ERC-20 with EIP-3009, same EIP-712 domain as Base USDC
/// (name "USD Coin", version "2"). No constructor state: can be placed with anvil_setCode
/// at the real Base USDC address. Domain separator is computed from chainid/this.
contract MockUSDC {
    string public constant name = "USD Coin";
    string public constant symbol = "USDC";
    string public constant version = "2";
    uint8 public constant decimals = 6;

    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this)
        ));
    }

    function mint(address to, uint256 value) external {
        totalSupply += value; balanceOf[to] += value; emit Transfer(address(0), to, value);
    }
    function approve(address s, uint256 v) external returns (bool) { allowance[msg.sender][s] = v; emit Approval(msg.sender, s, v); return true; }
    function transfer(address to, uint256 v) external returns (bool) { _transfer(msg.sender, to, v); return true; }
    function transferFrom(address f, address t, uint256 v) external returns (bool) {
        require(allowance[f][msg.sender] >= v, "ERC20: transfer amount exceeds allowance");
        allowance[f][msg.sender] -= v; _transfer(f, t, v); return true;
    }
    function _transfer(address f, address t, uint256 v) internal {
        require(t != address(0), "ERC20: transfer to the zero address");
        require(balanceOf[f] >= v, "ERC20: transfer amount exceeds balance");
        balanceOf[f] -= v; balanceOf[t] += v; emit Transfer(f, t, v);
    }

    function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        _twa(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }
    function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature) external {
        _twa(from, to, value, validAfter, validBefore, nonce, signature);
    }
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        _check(authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature);
        authorizationState[authorizer][nonce] = true; emit AuthorizationCanceled(authorizer, nonce);
    }
    function _twa(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature) internal {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        require(!authorizationState[from][nonce], "FiatTokenV2: authorization is used or canceled");
        _check(from, keccak256(abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)), signature);
        authorizationState[from][nonce] = true; emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
    }
    function _check(address signer, bytes32 structHash, bytes memory sig) internal view {
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), structHash));
        if (signer.code.length > 0) {
            (bool ok, bytes memory ret) = signer.staticcall(abi.encodeWithSelector(0x1626ba7e, digest, sig));
            require(ok && ret.length >= 32 && abi.decode(ret, (bytes4)) == bytes4(0x1626ba7e), "FiatTokenV2: invalid signature");
        } else {
            require(sig.length == 65, "ECRecover: invalid signature length");
            bytes32 r; bytes32 s; uint8 v;
            assembly { r := mload(add(sig, 0x20)) s := mload(add(sig, 0x40)) v := byte(0, mload(add(sig, 0x60))) }
            require(uint256(s) <= 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0, "ECRecover: invalid signature 's' value");
            address rec = ecrecover(digest, v, r, s);
            require(rec != address(0) && rec == signer, "FiatTokenV2: invalid signature");
        }
    }
}
