"""Writes a llama with random weights to the given file. Its tokens are bytes and a few words; its template is strict."""

import sys

import gguf
import numpy

EMBEDDING, LAYERS, HEADS, FEED_FORWARD, CONTEXT = 64, 2, 4, 128, 2048

# No system message but the first, and no other roles than these.
TEMPLATE = """{%- for message in messages -%}
{%- if message.role == 'system' and not loop.first -%}
{{- raise_exception('System message must be at the beginning.') -}}
{%- elif message.role not in ['system', 'user', 'assistant', 'tool'] -%}
{{- raise_exception('Unexpected message role.') -}}
{%- endif -%}
{{ message.role }}: {{ message.content }}
{% endfor -%}
assistant:"""

WORDS = ['\u2581' + word for word in ['the', 'a', 'hello', 'world', 'yes', 'no']] + ['\u2581', *'etaoinshrdlu']
BYTES = [f'<0x{byte:02X}>' for byte in range(256)]
TOKENS = [token.encode() for token in ['<unk>', '<s>', '</s>', *BYTES, *WORDS]]
TYPES = (
    [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    + [gguf.TokenType.BYTE] * len(BYTES)
    + [gguf.TokenType.NORMAL] * len(WORDS)
)
SCORES = [0.0] * (3 + len(BYTES)) + [-float(rank + 1) for rank in range(len(WORDS))]

writer = gguf.GGUFWriter(sys.argv[1], 'llama')
writer.add_context_length(CONTEXT)
writer.add_embedding_length(EMBEDDING)
writer.add_block_count(LAYERS)
writer.add_feed_forward_length(FEED_FORWARD)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(EMBEDDING // HEADS)
writer.add_vocab_size(len(TOKENS))
writer.add_tokenizer_model('llama')
writer.add_token_list(TOKENS)
writer.add_token_scores(SCORES)
writer.add_token_types(TYPES)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_chat_template(TEMPLATE)

random = numpy.random.default_rng(1)


def weights(*shape):
    return (random.standard_normal(shape) * 0.3).astype(numpy.float32)


ones = numpy.ones(EMBEDDING, numpy.float32)
writer.add_tensor('token_embd.weight', weights(len(TOKENS), EMBEDDING))
writer.add_tensor('output_norm.weight', ones)
writer.add_tensor('output.weight', weights(len(TOKENS), EMBEDDING))
for layer in range(LAYERS):
    for name in ['attn_norm', 'ffn_norm']:
        writer.add_tensor(f'blk.{layer}.{name}.weight', ones)
    for name in ['attn_q', 'attn_k', 'attn_v', 'attn_output']:
        writer.add_tensor(f'blk.{layer}.{name}.weight', weights(EMBEDDING, EMBEDDING))
    for name in ['ffn_gate', 'ffn_up']:
        writer.add_tensor(f'blk.{layer}.{name}.weight', weights(FEED_FORWARD, EMBEDDING))
    writer.add_tensor(f'blk.{layer}.ffn_down.weight', weights(EMBEDDING, FEED_FORWARD))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
