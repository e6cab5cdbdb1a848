"""A small diffusion transformer, written as a user writes it, with explicit FP8 linears.

Two recipes are mixed: the attention's linears scale each row of the activation by its own amax, the MLP's linears use
calibrated constants. ``export.py`` exports it with dynamic batch and tokens.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

E4M3 = torch.float8_e4m3fn
E4M3_MAX = torch.finfo(E4M3).max


class RowLinear(nn.Module):
    """Weight (out, in) in FP8 with a scale a row; the activation is scaled by the amax of each of its rows."""

    def __init__(self, in_features, out_features):
        super().__init__()
        weight = torch.randn(out_features, in_features) * in_features**-0.5
        scale = weight.abs().amax(dim=1, keepdim=True) / E4M3_MAX
        self.register_buffer("weight", (weight / scale).to(E4M3))
        self.register_buffer("weight_scale", scale.t().contiguous())
        self.register_buffer("bias", (torch.randn(out_features) * 0.02).bfloat16())

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        scale = rows.abs().amax(dim=-1, keepdim=True).float().clamp(min=1e-12) / E4M3_MAX
        y = torch._scaled_mm((rows.float() / scale).clamp(-E4M3_MAX, E4M3_MAX).to(E4M3), self.weight.t(),
                             scale_a=scale, scale_b=self.weight_scale, bias=self.bias, out_dtype=torch.bfloat16)
        return y.reshape(*x.shape[:-1], -1)


class StaticLinear(nn.Module):
    """One constant scale for the weight and one, calibrated, for the activation."""

    def __init__(self, in_features, out_features, amax):
        super().__init__()
        weight = torch.randn(out_features, in_features) * in_features**-0.5
        scale = weight.abs().max() / E4M3_MAX
        self.register_buffer("weight", (weight / scale).to(E4M3))
        self.register_buffer("weight_scale", scale.reshape(1, 1))
        self.register_buffer("input_scale", torch.tensor([[amax / E4M3_MAX]]))
        self.register_buffer("bias", (torch.randn(out_features) * 0.02).bfloat16())

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        a = (rows.float() / self.input_scale).clamp(-E4M3_MAX, E4M3_MAX).to(E4M3)
        y = torch._scaled_mm(a, self.weight.t(), scale_a=self.input_scale, scale_b=self.weight_scale, bias=self.bias,
                             out_dtype=torch.bfloat16)
        return y.reshape(*x.shape[:-1], -1)


class Block(nn.Module):
    """adaLN-Zero modulation by a conditioning vector around self attention with normed q and k, and an MLP."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(hidden, elementwise_affine=False, eps=1e-6)
        self.modulation = RowLinear(hidden, 6 * hidden)
        self.qkv = RowLinear(hidden, 3 * hidden)
        self.q_norm = nn.RMSNorm(hidden // heads, eps=1e-6).bfloat16()
        self.k_norm = nn.RMSNorm(hidden // heads, eps=1e-6).bfloat16()
        self.proj = RowLinear(hidden, hidden)
        self.mlp_in = StaticLinear(hidden, 4 * hidden, amax=8.0)
        self.mlp_out = StaticLinear(4 * hidden, hidden, amax=6.0)

    def forward(self, x, condition):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(F.silu(condition)).unsqueeze(1).chunk(6, -1)
        batch, tokens, hidden = x.shape
        h = self.norm(x) * (1 + scale1) + shift1
        q, k, v = self.qkv(h).reshape(batch, tokens, 3, self.heads, hidden // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        attention = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v)
        x = x + gate1 * self.proj(attention.transpose(1, 2).flatten(2))
        h = self.norm(x) * (1 + scale2) + shift2
        return x + gate2 * self.mlp_out(F.gelu(self.mlp_in(h), approximate="tanh"))


class DiT(nn.Module):
    """``depth`` blocks and a final norm: x (batch, tokens, hidden) and condition (batch, hidden), bf16."""

    def __init__(self, hidden=256, heads=4, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(hidden, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(hidden).bfloat16()

    def forward(self, x, condition):
        for block in self.blocks:
            x = block(x, condition)
        return self.norm(x)
