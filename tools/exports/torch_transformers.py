"""Small models of the package `transformers` with random weights, and their operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf
from torch import Tensor, nn
from torch_models import PICTURE

TOKENS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
SIZES = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
EAGER = {"attn_implementation": "eager", "use_cache": False}


class Logits(nn.Module):
    """A model that returns only the first tensor of its result."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        for part in model.modules():  # torch-mlir needs the values of all buffers, also of non-persistent ones
            part._non_persistent_buffers_set.clear()

    def forward(self, x: Tensor) -> Any:
        return self.model(x, return_dict=False)[0]


def bert() -> nn.Module:
    return hf.BertModel(hf.BertConfig(vocab_size=20, **SIZES, **EAGER))


def llama() -> nn.Module:
    return hf.LlamaForCausalLM(hf.LlamaConfig(vocab_size=20, num_key_value_heads=1, **SIZES, **EAGER))


def gpt2() -> nn.Module:
    return hf.GPT2LMHeadModel(
        hf.GPT2Config(vocab_size=20, bos_token_id=0, eos_token_id=0, n_embd=16, n_layer=2, n_head=2, **EAGER)
    )


def vit() -> nn.Module:
    return hf.ViTForImageClassification(hf.ViTConfig(image_size=16, patch_size=8, **SIZES, **EAGER))


MODELS: dict[str, tuple[Callable[[], nn.Module], list[Tensor]]] = {
    "gpt2": (lambda: Logits(gpt2()), [TOKENS]),
    "bert": (lambda: Logits(bert()), [TOKENS]),
    "llama": (lambda: Logits(llama()), [TOKENS]),
    "vit": (lambda: Logits(vit()), [PICTURE]),
}
