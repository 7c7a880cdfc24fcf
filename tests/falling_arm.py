"""An arm's URDF that no joint holds to the world, and what is said of it."""

ARM = """<robot name="arm">
  <link name="base_link"><inertial><mass value="3"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base_link"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="40" velocity="2"/></joint>
  <link name="upper"><inertial><origin xyz="0 0 0.3"/><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
</robot>"""
FALLS = "nothing holds the floating base of arm: under gravity it falls freely"
