target triple = "nvptx64-nvidia-cuda"
{arrays}
{functions}
define ptx_kernel void @{entry}({arguments}) #0 {{
thread:
{room}
{registers}
  %before = mul i64 %ctaid.long, %ntid.long
  %own = add i64 %before, %tid.long
  {begin} = add i64 %thread.begin, %own
  {end} = add i64 {begin}, 1
  %there = icmp slt i64 {begin}, %thread.end
  br i1 %there, label %entry, label %nothing
nothing:
  ret void
entry:
{body}
}}
{declarations}
attributes #0 = {{ nounwind }}
!0 = !{{}}
