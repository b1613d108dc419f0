"""Writes a llama model with random weights and 282 tokens to the given path: a real server generates nonsense with it.
The second argument replaces its chat template."""

import sys

import gguf
import numpy as np

EMBEDDING, LAYERS, HEADS, FEED_FORWARD, CONTEXT = 64, 2, 4, 128, 2048

special = [b'<unk>', b'<s>', b'</s>']
single_bytes = [f'<0x{byte:02X}>'.encode() for byte in range(256)]
words = [f'\u2581{word}'.encode() for word in 'the a hello world quokka eats grass yes no paid'.split()]
letters = [letter.encode() for letter in '\u2581etaoinshrdlu']
tokens = special + single_bytes + words + letters
plain = len(words) + len(letters)

writer = gguf.GGUFWriter(sys.argv[1], 'llama')
writer.add_name('tiny')
writer.add_context_length(CONTEXT)
writer.add_embedding_length(EMBEDDING)
writer.add_block_count(LAYERS)
writer.add_feed_forward_length(FEED_FORWARD)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(EMBEDDING // HEADS)
writer.add_vocab_size(len(tokens))
writer.add_tokenizer_model('llama')
writer.add_token_list(tokens)
writer.add_token_scores([0.0] * (len(tokens) - plain) + [-float(rank + 1) for rank in range(plain)])
# Token types: unknown, control, bytes, normal.
writer.add_token_types([2, 3, 3] + [6] * len(single_bytes) + [1] * plain)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
writer.add_chat_template(sys.argv[2] if len(sys.argv) > 2 else TEMPLATE)

random = np.random.default_rng(1)


def weights(*shape):
    return (random.standard_normal(shape) * 0.3).astype(np.float32)


ones = np.ones(EMBEDDING, np.float32)
writer.add_tensor('token_embd.weight', weights(len(tokens), EMBEDDING))
writer.add_tensor('output_norm.weight', ones)
writer.add_tensor('output.weight', weights(len(tokens), EMBEDDING))
for layer in range(LAYERS):
    block = f'blk.{layer}.'
    writer.add_tensor(block + 'attn_norm.weight', ones)
    writer.add_tensor(block + 'ffn_norm.weight', ones)
    for name in ['attn_q', 'attn_k', 'attn_v', 'attn_output']:
        writer.add_tensor(f'{block}{name}.weight', weights(EMBEDDING, EMBEDDING))
    writer.add_tensor(block + 'ffn_gate.weight', weights(FEED_FORWARD, EMBEDDING))
    writer.add_tensor(block + 'ffn_up.weight', weights(FEED_FORWARD, EMBEDDING))
    writer.add_tensor(block + 'ffn_down.weight', weights(EMBEDDING, FEED_FORWARD))

writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
